import { HoldfastError } from '../core/errors.ts'
import { isRun, type Task } from '../core/task.ts'
import type { AgentContext, SpawnOptions } from './agent.ts'
import { digest } from './digest.ts'
import type { Runtime } from './runtime.ts'

/** Where a tool is called. */
export interface ToolPlace {
  readonly thread: string
  /** The task that calls it. */
  readonly task?: string
  /** What that task works with: whatever the tool does is then a step, and a wait holds no slot. */
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

/** Which agents the tools may spawn: those named, else all that allow it. */
export async function spawnable(runtime: Runtime, named: readonly string[] | undefined): Promise<readonly string[]> {
  if (named) return named
  return (await runtime.agents()).filter(({ isSpawnable }) => isSpawnable !== false).map(({ name }) => name)
}

/** What of a task a tool works with. */
export type KnownTask = Pick<Task, 'id' | 'type' | 'agent' | 'name' | 'description' | 'status' | 'parent' | 'metadata'>

export function schema(properties: object, required: readonly string[]): Readonly<Record<string, unknown>> {
  return { type: 'object', properties, required, additionalProperties: false }
}

export function text(input: unknown, field: string): string {
  const value = optionalText(input, field)
  if (value === undefined) throw invalid(field)
  return value
}

export function optionalText(input: unknown, field: string): string | undefined {
  const value = fieldOf(input, field)
  if (value === undefined || typeof value === 'string') return value
  throw invalid(field)
}

export function fieldOf(input: unknown, field: string): unknown {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, field)) return undefined
  return (input as Record<string, unknown>)[field]
}

function invalid(field: string): HoldfastError {
  return new HoldfastError('invalid_input', `The tool needs ${field} as text`)
}

export function noSuchTask(given: string): object {
  return { task: given, reason: 'not_found' }
}

/** Does something as a step of the task that calls, if it gave its context: after a crash it is not done again. */
export function asStep<Value>({ ctx }: ToolPlace, key: string, act: () => Promise<Value>): Promise<Value> {
  return ctx ? ctx.step(key, act) : act()
}

/** Spawns for the task that calls, and as a step of it if it gave its context. */
export async function spawnFrom(runtime: Runtime, place: ToolPlace, options: SpawnOptions): Promise<Task> {
  if (place.ctx) return place.ctx.spawn(options)
  // Inside the task itself its whole lineage is inherited, of which the id alone would be a part.
  const isInside = place.task === undefined || (await runtime.currentTask()) === place.task
  const parent = isInside ? {} : { parent: { task: place.task } }
  return runtime.spawn({ ...options, ...parent, thread: place.thread })
}

/**
 * The task that is meant: `self`, `parent`, the id of a task of this thread, or a name, of which the newest counts: a live
 * one, if there is one. On replay it is the same, whatever has the name by then.
 */
export async function find(runtime: Runtime, place: ToolPlace, given: string): Promise<KnownTask | undefined> {
  const found = await asStep(place, `find ${shortKey(given)}`, async () => {
    const task = await look(runtime, place, given)
    return task ? known(task) : null
  })
  return found ?? undefined
}

async function look(runtime: Runtime, place: ToolPlace, given: string): Promise<Task | undefined> {
  const { thread } = place
  if (given === 'self' || given === 'parent') {
    const own = place.task === undefined ? undefined : await runtime.get(place.task)
    const id = given === 'self' ? own?.id : own?.parent?.task
    return id === undefined ? undefined : look(runtime, place, id)
  }
  const byId = await runtime.get(given)
  if (byId?.thread === thread) return byId
  const { tasks } = await runtime.list({ thread, name: given, limit: 1 })
  return tasks[0]
}

/** The tasks above one, nearest first. */
export async function* ancestors(runtime: Runtime, task: KnownTask | undefined): AsyncGenerator<Task, undefined> {
  let above = task?.parent?.task
  while (above !== undefined) {
    const record: Task | undefined = await runtime.get(above)
    if (!record) return
    yield record
    above = record.parent?.task
  }
}

/**
 * Whether whoever calls may cancel a task: itself and what it spawned, and a run, which speaks for the conversation, any
 * background task of it. Nobody may cancel for its parent or its siblings.
 */
export async function mayCancel(runtime: Runtime, place: ToolPlace, target: KnownTask): Promise<boolean> {
  if (place.task === undefined || target.id === place.task) return true
  for await (const { id } of ancestors(runtime, target)) if (id === place.task) return true
  const own = await runtime.get(place.task)
  return own !== undefined && isRun(own) && !isRun(target)
}

function known({ id, type, agent, name, description, status, parent, metadata }: Task): KnownTask {
  return {
    id,
    type,
    ...(agent !== undefined && { agent }),
    ...(name !== undefined && { name }),
    description,
    status,
    ...(parent && { parent }),
    ...(metadata !== undefined && { metadata }),
  }
}

// A key has a limit, and what a model says has none.
const keyLengthMax = 100

function shortKey(given: string): string {
  return given.length <= keyLengthMax ? given : digest(given)
}
