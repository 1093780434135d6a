import { HoldfastError } from '../core/errors.ts'
import { isTerminal } from '../core/status.ts'
import { isRun, type Task } from '../core/task.ts'
import type { AgentContext } from './agent.ts'
import type { Runtime } from './runtime.ts'
import { reduceView, type TaskView } from './task-view.ts'

/** Where a tool is called. */
export interface ToolPlace {
  readonly thread: string
  /** The task that calls it. */
  readonly task?: string
  /** What that task works with: a wait then holds no slot, and is a step. */
  readonly ctx?: AgentContext
}

/** A tool in the shape that every agent framework can take. */
export interface BackgroundTool {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  execute(input: unknown, place: ToolPlace): Promise<unknown>
}

const task = { type: 'string', description: 'The id of the task, or its name' }

/**
 * What an agent can do with background tasks. Every tool is confined to the thread it is called in: what a model says is
 * data, and names no task of another conversation.
 */
export function backgroundTools(runtime: Runtime): readonly BackgroundTool[] {
  return [spawnTool(runtime), listTool(runtime), waitTool(runtime), cancelTool(runtime), sendTool(runtime)]
}

function spawnTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'spawn_task',
    description: 'Spawns a background task that goes on while you do. Its result can be waited for with wait_task.',
    inputSchema: schema(
      {
        agent: { type: 'string', description: 'The agent that does the work' },
        prompt: { type: 'string', description: 'What it is asked' },
        name: { type: 'string', description: 'A name by which it can be addressed, unique among live tasks' },
        description: { type: 'string', description: 'One line that tells people what it does' },
      },
      ['agent', 'prompt'],
    ),
    async execute(input, place) {
      const [name, description] = [optionalText(input, 'name'), optionalText(input, 'description')]
      const options = {
        agent: text(input, 'agent'),
        prompt: text(input, 'prompt'),
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        detached: true,
      }
      if (place.ctx) return spawned(await place.ctx.spawn(options))
      // Inside the task itself its whole lineage is inherited, of which the id alone would be a part.
      const isInside = place.task === undefined || (await runtime.currentTask()) === place.task
      const parent = isInside ? {} : { parent: { task: place.task } }
      return spawned(await runtime.spawn({ ...options, ...parent, thread: place.thread }))
    },
  }
}

function listTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'list_tasks',
    description: 'Lists the background tasks of this conversation: those at work, and those that ended last.',
    inputSchema: schema({}, []),
    async execute(_input, place) {
      return { tasks: await lookAt(runtime, place.thread, []) }
    },
  }
}

function waitTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'wait_task',
    description: 'Waits until a background task has ended, and tells how: its answer, or its error.',
    inputSchema: schema({ task }, ['task']),
    async execute(input, place) {
      const found = await find(runtime, place, text(input, 'task'))
      if (!found) return notFound(input)
      if (place.ctx) return place.ctx.wait(found.id)
      const ended = await runtime.wait(found.id)
      const { id, status, result, error } = ended ?? found
      return { task: id, status, ...(result !== undefined && { answer: result }), ...(error && { error }) }
    },
  }
}

function cancelTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'cancel_task',
    description: 'Cancels a background task and everything it spawned. Cancelling what has ended changes nothing.',
    inputSchema: schema({ task, reason: { type: 'string', description: 'Why, for people who look at it later' } }, [
      'task',
    ]),
    async execute(input, place) {
      const reason = optionalText(input, 'reason')
      const found = await find(runtime, place, text(input, 'task'))
      if (!found) return { cancelled: 0, ...notFound(input) }
      const cancelled = await runtime.cancelTree(found.id, reason)
      if (cancelled > 0) return { task: found.id, cancelled }
      const ended = (await runtime.get(found.id)) ?? found
      return { task: found.id, cancelled, reason: 'ended', status: ended.status }
    },
  }
}

function sendTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'send_message',
    description: 'Sends a message to a background task, which reads it from its inbox.',
    inputSchema: schema({ task, content: { type: 'string', description: 'The message' } }, ['task', 'content']),
    async execute(input, place) {
      const content = text(input, 'content')
      const found = await find(runtime, place, text(input, 'task'))
      if (!found) return { isSent: false, ...notFound(input) }
      const message = { content, ...(place.task !== undefined && { from: place.task }) }
      return { task: found.id, ...(await runtime.send(found.id, message, { thread: place.thread })) }
    },
  }
}

// Runs are among them and not shown, so more are asked for than a view has.
const endedLookedAt = 100
const liveLookedAt = 1000

/** The view of a thread's background tasks after a look into the store. Runs are the conversation itself. */
export async function lookAt(runtime: Runtime, thread: string, view: TaskView): Promise<TaskView> {
  const [live, ended] = await Promise.all([
    runtime.list({ thread, status: ['pending', 'running'], limit: liveLookedAt }),
    runtime.list({ thread, status: ['completed', 'failed', 'cancelled'], limit: endedLookedAt }),
  ])
  // One that ended between the two reads is in both: the second has it as it is now.
  const byId = new Map([...live.tasks, ...ended.tasks].map((known) => [known.id, known]))
  return reduceView(view, { kind: 'replace', tasks: [...byId.values()].filter((known) => !isRun(known)) })
}

/** The task of this thread with that id, else the newest with that name: a live one, if there is one. */
async function find(runtime: Runtime, { thread }: ToolPlace, given: string): Promise<Task | undefined> {
  const byId = await runtime.get(given)
  if (byId?.thread === thread) return byId
  const { tasks } = await runtime.list({ thread, name: given, limit: 1 })
  return tasks[0]
}

function spawned({ id, name, status }: Task): object {
  return { task: id, ...(name !== undefined && { name }), status, hasEnded: isTerminal(status) }
}

function notFound(input: unknown): object {
  return { task: text(input, 'task'), reason: 'not_found' }
}

function schema(properties: object, required: readonly string[]): Readonly<Record<string, unknown>> {
  return { type: 'object', properties, required, additionalProperties: false }
}

function text(input: unknown, field: string): string {
  const value = optionalText(input, field)
  if (value === undefined) throw invalid(field)
  return value
}

function optionalText(input: unknown, field: string): string | undefined {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[field] : undefined
  if (value === undefined || typeof value === 'string') return value
  throw invalid(field)
}

function invalid(field: string): HoldfastError {
  return new HoldfastError('invalid_input', `The tool needs ${field} as text`)
}
