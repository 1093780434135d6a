import { HoldfastError } from '../core/errors.ts'
import { isRun, type Task } from '../core/task.ts'
import {
  asStep,
  type BackgroundTool,
  fieldOf,
  find,
  mayCancel,
  noSuchTask,
  optionalText,
  schema,
  spawnable,
  spawnFrom,
  type ToolPlace,
  text,
} from './background-tool.ts'
import type { ListOptions } from './reads.ts'
import type { Runtime } from './runtime.ts'
import { sendTool } from './send-tool.ts'
import { reduceView, type TaskView } from './task-view.ts'

const task = { type: 'string', description: 'The id of the task, or its name' }

/**
 * What an agent can do with background tasks. Every tool is confined to the thread it is called in: what a model says is
 * data, and names no task of another conversation.
 */
export function backgroundTools(runtime: Runtime, agents?: readonly string[]): readonly BackgroundTool[] {
  const allowed = () => spawnable(runtime, agents)
  return [
    spawnTool(runtime, agents),
    listTool(runtime),
    waitTool(runtime),
    cancelTool(runtime),
    sendTool(runtime, allowed),
  ]
}

function spawnTool(runtime: Runtime, agents: readonly string[] | undefined): BackgroundTool {
  return {
    name: 'spawn_task',
    description:
      'Spawns a background task that goes on while you do. Give it a prompt, or an input if its agent takes one of another ' +
      'form. Its result can be waited for with wait_task.',
    inputSchema: schema(
      {
        agent: { type: 'string', description: 'The agent that does the work', ...(agents && { enum: agents }) },
        prompt: { type: 'string', description: 'What it is asked' },
        input: { description: 'What it is given instead of a prompt, in the form that its agent takes' },
        name: { type: 'string', description: 'A name by which it can be addressed, unique among live tasks' },
        description: { type: 'string', description: 'One line that tells people what it does' },
      },
      ['agent'],
    ),
    async execute(input, place) {
      const agent = text(input, 'agent')
      const options = { ...asked(input), agent, ...about(input), detached: true }
      const names = await spawnable(runtime, agents)
      if (names.includes(agent)) return spawned(await spawnFrom(runtime, place, options))
      const what = `There is no agent ${JSON.stringify(agent)} to spawn. There are: ${names.join(', ')}`
      throw new HoldfastError('unknown_agent', what)
    },
  }
}

function asked(input: unknown): { readonly prompt: string } | { readonly input: unknown } {
  const given = fieldOf(input, 'input')
  return given === undefined ? { prompt: text(input, 'prompt') } : { input: given }
}

function about(input: unknown): { readonly name?: string; readonly description?: string } {
  const [name, description] = [optionalText(input, 'name'), optionalText(input, 'description')]
  return { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
}

/** No status: on replay it would be another, and what a model was told must stay as it was. */
function spawned({ id, name }: Task): object {
  return { task: id, ...(name !== undefined && { name }) }
}

function listTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'list_tasks',
    description: 'Lists the background tasks of this conversation: those at work, and those that ended last.',
    inputSchema: schema({}, []),
    execute: (_input, place) =>
      asStep(place, 'list_tasks', async () => ({ tasks: await lookAt(runtime, place.thread) })),
  }
}

function waitTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'wait_task',
    description: 'Waits until a background task has ended, and tells how: its answer, or its error.',
    inputSchema: schema({ task }, ['task']),
    async execute(input, place) {
      const found = await find(runtime, place, text(input, 'task'))
      if (!found) return noSuchTask(text(input, 'task'))
      if (found.id === place.task) return { task: found.id, reason: 'self' }
      if (place.ctx) return waitInside(runtime, { ...place, ctx: place.ctx }, found)
      const ended = await runtime.wait(found.id)
      const { id, status, result, error } = ended ?? { ...found, result: undefined, error: undefined }
      return { task: id, status, ...(result !== undefined && { answer: result }), ...(error && { error }) }
    },
  }
}

/** What a parent waits for is taken with that. What an earlier run left behind is taken once this one has it on record. */
async function waitInside(
  runtime: Runtime,
  place: Required<Pick<ToolPlace, 'ctx'>> & ToolPlace,
  found: { readonly id: string; readonly parent?: Task['parent'] },
): Promise<unknown> {
  const result = await place.ctx.wait(found.id)
  if (found.parent?.task !== place.ctx.taskId) {
    await place.ctx.step(`collect ${found.id}`, async () => void (await runtime.collect(place.thread, [found.id])))
  }
  return result
}

function cancelTool(runtime: Runtime): BackgroundTool {
  return {
    name: 'cancel_task',
    description:
      'Cancels a background task and everything it spawned: one of yours by id or name, or yourself as "self". ' +
      'Cancelling what has ended changes nothing.',
    inputSchema: schema({ task, reason: { type: 'string', description: 'Why, for people who look at it later' } }, [
      'task',
    ]),
    async execute(input, place) {
      const reason = optionalText(input, 'reason')
      const found = await find(runtime, place, text(input, 'task'))
      if (!found) return { cancelled: 0, ...noSuchTask(text(input, 'task')) }
      return asStep(place, `cancel ${found.id}`, async () => {
        if (!(await mayCancel(runtime, place, found))) return { task: found.id, cancelled: 0, reason: 'not_yours' }
        const cancelled = await runtime.cancelTree(found.id, reason)
        if (cancelled > 0) return { task: found.id, cancelled }
        const { status } = (await runtime.get(found.id)) ?? found
        return { task: found.id, cancelled, reason: 'ended', status }
      })
    },
  }
}

// Runs are among them and not shown, so more are read than a view has.
const endedLookedAt = 100
const liveLookedAt = 1000

/** A thread's background tasks as they are in the store. Runs are left out: they are the conversation itself. */
export async function lookAt(runtime: Runtime, thread: string): Promise<TaskView> {
  const [live, ended] = await Promise.all([
    newest(runtime, { thread, status: ['pending', 'running'] }, liveLookedAt),
    newest(runtime, { thread, status: ['completed', 'failed', 'cancelled'] }, endedLookedAt),
  ])
  // One that ended between the two reads is in both: the second has it as it is now.
  const byId = new Map([...live, ...ended].map((known) => [known.id, known]))
  return reduceView([], { kind: 'replace', tasks: [...byId.values()].filter((known) => !isRun(known)) })
}

/** As many of the newest as there are up to `count`, over pages that large results have made short. */
async function newest(runtime: Runtime, filter: ListOptions, count: number): Promise<Task[]> {
  const found: Task[] = []
  for (let cursor: string | undefined; ; ) {
    const limit = count - found.length
    const page = await runtime.list({ ...filter, limit, ...(cursor !== undefined && { cursor }) })
    found.push(...page.tasks)
    cursor = page.cursor
    if (cursor === undefined || found.length >= count) return found
  }
}
