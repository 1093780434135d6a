import type { Decision, Surroundings } from './decision.ts'
import type { TaskError } from './errors.ts'
import type { JsonText, TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { isTerminal, type TerminalStatus } from './status.ts'
import { isRun, type Task, type TaskRecord, toTask } from './task.ts'
import type { Stamp } from './unit.ts'
import { UnitDraft } from './unit-draft.ts'

type Encoded = 'input' | 'result' | 'metadata'

/** A task as a snapshot brings it, from this store or another one. */
export interface RestoredTask extends Omit<Task, 'thread' | 'seq' | 'position' | 'hook' | Encoded> {
  readonly input?: JsonText
  readonly result?: JsonText
  readonly metadata?: JsonText
}

/**
 * Puts tasks into a thread that the store does not know, each as one acceptance and one ending. One that had not ended
 * has nobody left to execute it, and fails as `orphaned`, or ends as cancelled if that was asked of it. Answers with the ids that
 * were put back.
 *
 * A restored task changes nothing but itself: it writes no message, wakes nobody, promotes no run, and its end is
 * told to no task that lives here under the id of its parent, nor to `onEnded`. A task of the live part is never touched; that ended
 * ones are not in the store already is for the caller to see to.
 */
export function restore(live: LiveThread, around: Surroundings, tasks: readonly RestoredTask[]): Decision<TaskId[]> {
  const draft = new UnitDraft(live, around, 'restore')
  const restored: TaskId[] = []
  for (const task of tasks) {
    if (draft.task(task.id)) continue
    restoreTask(draft, task)
    restored.push(task.id)
  }
  return restored.length === 0 ? { value: restored } : { unit: draft.build(), value: restored }
}

function restoreTask(draft: UnitDraft, task: RestoredTask): void {
  const { live } = draft
  const ending = endingOf(task)
  const { result: _result, error: _error, partial: _partial, completedAt: _completedAt, ...given } = task
  const record: TaskRecord & { readonly status: TerminalStatus } = {
    ...given,
    ...ending,
    key: live.key,
    asked: task.input === undefined ? 'nothing' : 'input',
    depth: 0,
    inbox: isRun(task) || task.type === 'agent',
    ready: false,
    place: live.rev,
    endPlace: live.rev,
    crashes: 0,
    // Who was to learn of an end learned of it where the task ended; of an orphan's nobody has.
    taken: isTerminal(task.status) || (task.parent?.task !== undefined && live.task(task.parent.task) !== undefined),
    firstSeq: 0,
    seq: 0,
  }
  const stamps: Stamp[] = record.completedAt === undefined ? ['completedAt'] : []
  draft.add(record, stamps)
  acceptedEvent(draft, record)
  terminalEvent(draft, record)
}

type Ending = Pick<TaskRecord, 'progress' | 'result' | 'error' | 'partial' | 'completedAt'> & {
  readonly status: TerminalStatus
}

function endingOf({ status, result, error, partial, completedAt, cancelRequestedAt }: RestoredTask): Ending {
  // A committed cancel can only end as cancelled, wherever it was committed.
  if (!isTerminal(status) && cancelRequestedAt !== undefined)
    return { status: 'cancelled', error: unknownError.cancelled }
  if (!isTerminal(status)) return { status: 'failed', error: orphanedError }
  const at = completedAt !== undefined && { completedAt }
  if (status === 'completed') return { status, progress: 1, ...(result !== undefined && { result }), ...at }
  return { status, error: error ?? unknownError[status], ...(partial && { partial }), ...at }
}

const orphanedError: TaskError = {
  code: 'orphaned',
  message: 'The task was orphaned: it had not ended when the snapshot was taken, and no process here executes it',
}

const unknownError: Readonly<Record<'failed' | 'cancelled', TaskError>> = {
  failed: { code: 'agent_error', message: 'The task failed; the snapshot does not say why' },
  cancelled: { code: 'cancelled', message: 'The task was cancelled' },
}

/** The task as it was before its end, with the instants that its snapshot brought. */
function acceptedEvent(draft: UnitDraft, record: TaskRecord): void {
  const { seq: _s, result: _r, error: _e, partial: _p, unread: _u, completedAt: _at, ...rest } = toTask(record)
  const task = { ...rest, status: record.attempt > 0 ? 'running' : 'pending' } as Task
  draft.event('task.accepted', { task }, unfenced(record), { path: 'task', field: 'input' })
}

function terminalEvent(draft: UnitDraft, record: TaskRecord & { readonly status: TerminalStatus }): void {
  const { status, result, error, partial, unread, completedAt } = record
  const at = { ...(unread && { unread }), ...(completedAt !== undefined && { completedAt }) }
  if (status === 'completed') {
    const data = { ...(result !== undefined && { result: JSON.parse(result) as unknown }), ...at }
    draft.event('task.completed', data, unfenced(record), { field: 'result' })
    return
  }
  const data = { error: error ?? unknownError[status], ...(partial && { partial }), ...at }
  draft.event(`task.${status}`, data, unfenced(record))
}

/** No execution writes these, so they carry no epoch. */
function unfenced(record: TaskRecord): TaskRecord {
  return { ...record, epoch: 0 }
}
