import { putHook } from '../core/hook.ts'
import type { TaskId } from '../core/id.ts'
import { stamped } from '../core/stamp.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Committed, Unit } from '../core/unit.ts'

/** A task as a unit left it, with what only the commit could tell. */
export function committedRecord(unit: Unit, verdict: Committed, record: TaskRecord): TaskRecord {
  const put = unit.tasks?.find((candidate) => candidate.record.id === record.id)
  const last = unit.events.findLastIndex((event) => event.task === record.id)
  const first = unit.events.findIndex((event) => event.task === record.id)
  const lastSeq = verdict.first + unit.events.length - 1
  const owed = unit.hooks?.find(({ task }) => task === record.id)
  const hook = owed && putHook(owed, verdict.at)
  return {
    ...(put?.record ?? record),
    ...(put && stamped(put, verdict.at, lastSeq)),
    ...(put?.isNew && { firstSeq: verdict.first + first }),
    ...(last >= 0 && { seq: verdict.first + last }),
    ...(hook && { hook }),
  }
}

/** The tasks a unit touched, as it left them. */
export function committedRecords(unit: Unit, verdict: Committed): TaskRecord[] {
  return (unit.tasks ?? []).map((put) => committedRecord(unit, verdict, put.record))
}

/**
 * Whether a record is all there. An instant that an earlier unit of the same commit was to fill in is still 0; then
 * only the store has the record whole.
 */
export function isWhole({ createdAt, startedAt, cancelRequestedAt }: TaskRecord): boolean {
  return createdAt !== 0 && startedAt !== 0 && cancelRequestedAt !== 0
}

export function startsIn(unit: Unit): ReadonlySet<TaskId> {
  const started = unit.tasks?.filter((put) => put.stamps.includes('startedAt')) ?? []
  return new Set(started.map((put) => put.record.id))
}
