import { foldTask } from '../../core/fold-task.ts'
import { isTerminal, type Status } from '../../core/status.ts'
import type { Task } from '../../core/task.ts'
import type { ThreadEvent } from '../thread-event.ts'

/** Which tasks are asked for. All but `status` never changes in a task. */
export interface TaskFilter {
  readonly status?: Status | readonly Status[] | undefined
  readonly type?: string | undefined
  readonly thread?: string | undefined
  readonly parent?: string | undefined
  readonly name?: string | undefined
  /** Only tasks that no task spawned. */
  readonly roots?: boolean | undefined
}

/**
 * The first rows of the list that the server would give, kept as events come.
 *
 * R1 What is shown matches, newest first, and there is no gap in it: a task that matches and is not shown is older than the last.
 * R2 Of two copies of a task the one with the higher `seq` counts.
 */
export interface TaskRows {
  readonly shown: readonly Task[]
  /** Live tasks that do not match for now, the latest last. Whoever is not in here and begins to match has to be read. */
  readonly hidden: ReadonlyMap<string, Task>
  /** The oldest that was read, if the server has older ones that match. */
  readonly end?: Task
}

// Far more than wait or run at once for most; one that was let go is read again when it begins to match.
const hiddenCountMax = 1000

export const noRows: TaskRows = { shown: [], hidden: new Map() }

/** The rows from the newest on, as they were just read. What happened since then has to be folded again. */
export function readRows(tasks: readonly Task[], hasMore: boolean): TaskRows {
  return ending(tasks.map(placeless), new Map(), hasMore)
}

/** With the next page of older tasks. What happened since it was read has to be folded again. */
export function withOlder(rows: TaskRows, tasks: readonly Task[], hasMore: boolean): TaskRows {
  const known = new Set(rows.shown.map(({ id }) => id))
  const older = tasks.filter(({ id }) => !known.has(id)).map(placeless)
  const hidden = tasks.reduce((rest, { id }) => without(rest, id), rows.hidden)
  return ending([...rows.shown, ...older], hidden, hasMore, tasks.at(-1))
}

/** With a copy of a task, wherever it is from. */
export function withTask(rows: TaskRows, task: Task, filter: TaskFilter): TaskRows {
  const known = knownIn(rows, task.id)
  if ((known && known.seq >= task.seq) || !isOfFilter(task, filter)) return rows
  return placed(rows, placeless(task), filter)
}

export function afterEvent(rows: TaskRows, event: ThreadEvent, filter: TaskFilter): TaskRows {
  if (event.type === 'task.accepted') return withTask(rows, event.data.task, filter)
  const known = event.task === undefined ? undefined : knownIn(rows, event.task)
  const next = known && foldTask(known, event)
  return !next || next === known ? rows : placed(rows, next, filter)
}

/** Whether a task that is not known may have begun to match, so that it has to be read. */
export function isToBeRead(rows: TaskRows, event: ThreadEvent, filter: TaskFilter): boolean {
  const status = statusAfter[event.type]
  if (event.task === undefined || status === undefined || filter.status === undefined) return false
  if (filter.thread !== undefined && event.thread !== filter.thread) return false
  return hasStatus(status, filter) && !knownIn(rows, event.task)
}

/** Without the oldest, if there are too many. */
export function newest(rows: TaskRows, countMax: number): TaskRows {
  return rows.shown.length <= countMax ? rows : ending(rows.shown.slice(0, countMax), rows.hidden, true)
}

function ending(
  shown: readonly Task[],
  hidden: TaskRows['hidden'],
  hasMore: boolean,
  end: Task | undefined = shown.at(-1),
): TaskRows {
  return { shown, hidden, ...(hasMore && end && { end }) }
}

const statusAfter: Readonly<Record<string, Status>> = {
  'task.started': 'running',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.cancelled': 'cancelled',
}

function placed(rows: TaskRows, task: Task, filter: TaskFilter): TaskRows {
  const { shown } = rows
  const at = shown.findIndex(({ id }) => id === task.id)
  if (!hasStatus(task.status, filter)) {
    return { ...rows, shown: at < 0 ? shown : shown.toSpliced(at, 1), hidden: hiddenWith(rows, task) }
  }
  if (at >= 0) return { ...rows, shown: shown.with(at, task) }
  const hidden = without(rows.hidden, task.id)
  // R1: it has its place on a page that was not read.
  if (rows.end && !isNewer(task, rows.end)) return { ...rows, hidden }
  const older = shown.findIndex((other) => isNewer(task, other))
  return { ...rows, shown: shown.toSpliced(older < 0 ? shown.length : older, 0, task), hidden }
}

/** One that has ended never matches again. */
function hiddenWith({ hidden }: TaskRows, task: Task): TaskRows['hidden'] {
  const next = new Map(without(hidden, task.id))
  if (isTerminal(task.status)) return next
  next.set(task.id, task)
  const [longest] = next.keys()
  if (next.size > hiddenCountMax && longest !== undefined) next.delete(longest)
  return next
}

function without(hidden: TaskRows['hidden'], id: string): TaskRows['hidden'] {
  if (!hidden.has(id)) return hidden
  const rest = new Map(hidden)
  rest.delete(id)
  return rest
}

function knownIn({ shown, hidden }: TaskRows, id: string): Task | undefined {
  return hidden.get(id) ?? shown.find((task) => task.id === id)
}

/** Whether a task matches, whatever its status. One that does not never will. */
export function isOfFilter(task: Task, { type, thread, parent, name, roots }: TaskFilter): boolean {
  if (type !== undefined && task.type !== type) return false
  if (thread !== undefined && task.thread !== thread) return false
  if (name !== undefined && task.name !== name) return false
  if (roots && task.parent?.task !== undefined) return false
  return parent === undefined || task.parent?.task === parent
}

function hasStatus(status: Status, { status: wanted }: TaskFilter): boolean {
  return wanted === undefined || [wanted].flat().includes(status)
}

/** Of one instant the ids tell, if they are numbers in a row; else the one that was heard of last. */
function isNewer(task: Task, other: Task): boolean {
  if (task.createdAt !== other.createdAt) return task.createdAt > other.createdAt
  const [number, otherNumber] = [task, other].map(({ id }) => Number(id.slice('bg_'.length)))
  return !((number ?? 0) < (otherNumber ?? 0))
}

/** How many start before it changes without an event of its own. The queue of a thread tells. */
function placeless(task: Task): Task {
  if (task.position === undefined) return task
  const { position: _left, ...rest } = task
  return rest
}
