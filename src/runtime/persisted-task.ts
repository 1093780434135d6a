import { HoldfastError, taskErrorCodes } from '../core/errors.ts'
import { type ThreadId, threadId } from '../core/id.ts'
import { statuses } from '../core/status.ts'
import type { Task } from '../core/task.ts'

/** A task as a list of its thread shows it. */
export type TaskSummary = Omit<Task, 'thread' | 'inputOmitted' | 'resultOmitted'>

/** A task that can be kept outside the store and put back: all that is known of it, and its thread. */
export type PersistedTask = TaskSummary & { readonly thread: ThreadId }

/** Tasks by id. */
export type PersistedTasks = Readonly<Record<string, PersistedTask>>

/** A task with the thread it belongs to, to be kept outside the store. */
export function persistTask(summary: TaskSummary, thread: string): PersistedTask {
  return { ...summary, thread: threadId(thread) }
}

/** What changes tasks that are kept outside the store. */
export type TasksChange =
  | { readonly kind: 'upsert'; readonly task: PersistedTask }
  | { readonly kind: 'replace_all'; readonly tasks: Iterable<PersistedTask> }

/** The tasks after a change; what was given is left as it is. */
export function reduceTasks(tasks: PersistedTasks, change: TasksChange): PersistedTasks {
  if (change.kind === 'upsert') return { ...tasks, [change.task.id]: change.task }
  return Object.fromEntries(Array.from(change.tasks, (task) => [task.id, task]))
}

/** Tasks as JSON. Decoded again they are the same, field by field; what is absent stays absent. */
export function encodeTasks(tasks: PersistedTasks): string {
  return JSON.stringify(tasks)
}

// Where tasks of a record that names no thread are put.
const threadDefault = 'default'

/** Reads what `encodeTasks` wrote. A record without a thread, as older programs wrote them, gets the one given here. */
export function decodeTasks(text: string, options: { readonly thread?: string } = {}): PersistedTasks {
  const thread = threadId(options.thread ?? threadDefault)
  const value = parse(text)
  if (!isObject(value)) throw invalid('A snapshot is an object of tasks by id')
  const entries = Object.entries(value).map(([id, task]) => [id, readTask(id, task, thread)] as const)
  return Object.fromEntries(entries)
}

interface Field {
  readonly is: (value: unknown) => boolean
  readonly isOptional?: true
}

// One row for every field, so that a field which a task gains cannot be forgotten here.
const fields: { readonly [Name in keyof Task]-?: Field } = {
  id: { is: isText },
  thread: { is: isText },
  seq: { is: isCount },
  type: { is: isText },
  agent: { is: isText, isOptional: true },
  name: { is: isText, isOptional: true },
  description: { is: isText },
  status: { is: (value) => (statuses as readonly unknown[]).includes(value) },
  position: { is: isCount, isOptional: true },
  parent: { is: isParent, isOptional: true },
  detached: { is: (value) => value === true, isOptional: true },
  progress: { is: isNumber, isOptional: true },
  usage: { is: (value) => isObject(value) && Object.values(value).every(isNumber), isOptional: true },
  input: { is: () => true, isOptional: true },
  result: { is: () => true, isOptional: true },
  // What the snapshot of a thread leaves out cannot be put back.
  inputOmitted: { is: () => false, isOptional: true },
  resultOmitted: { is: () => false, isOptional: true },
  error: { is: isError, isOptional: true },
  partial: { is: (value) => value === true, isOptional: true },
  unread: { is: (value) => Array.isArray(value) && value.every(isText), isOptional: true },
  attempt: { is: isCount },
  epoch: { is: isCount },
  cancelRequestedAt: { is: isNumber, isOptional: true },
  createdAt: { is: isNumber },
  startedAt: { is: isNumber, isOptional: true },
  completedAt: { is: isNumber, isOptional: true },
  hook: { is: (value) => isObject(value) && isCount(value['attempts']), isOptional: true },
  metadata: { is: () => true, isOptional: true },
}

function readTask(id: string, value: unknown, thread: ThreadId): PersistedTask {
  if (!isObject(value)) throw invalid(`The task ${JSON.stringify(id)} of a snapshot is an object`)
  const given: Readonly<Record<string, unknown>> = { thread, ...value }
  if (given['id'] !== id) throw invalid(`A snapshot has a task under ${JSON.stringify(id)} that names another id`)
  const known = Object.entries(fields).flatMap(([name, { is, isOptional }]) => {
    if (given[name] === undefined && isOptional) return []
    if (!is(given[name])) throw invalid(`The task ${JSON.stringify(id)} of a snapshot has no valid ${name}`)
    return [[name, given[name]] as const]
  })
  return persistTask(Object.fromEntries(known) as unknown as TaskSummary, String(given['thread']))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new HoldfastError('invalid_request', 'A snapshot is JSON text, as encodeTasks writes it', { cause })
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isParent(value: unknown): boolean {
  return (
    isObject(value) &&
    ['task', 'run', 'call', 'agent'].every((name) => value[name] === undefined || isText(value[name]))
  )
}

function isError(value: unknown): boolean {
  return isObject(value) && (taskErrorCodes as readonly unknown[]).includes(value['code']) && isText(value['message'])
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('invalid_request', message)
}
