import type { EventDraft, Range } from './event.ts'
import type { TaskId } from './id.ts'
import type { TaskRecord } from './task.ts'
import type { Stamp, TaskPut } from './unit.ts'

// What only the commit of a unit can tell of its tasks: whoever keeps records of them fills it in by these.

/** The fields of a put that its commit decides. */
export function stamped(put: TaskPut, at: number, lastSeq: number): Partial<TaskRecord> {
  const value = (stamp: Stamp): number => (stamp === 'startedSeq' ? lastSeq : at)
  return Object.fromEntries(put.stamps.map((stamp) => [stamp, value(stamp)]))
}

/** The first and the last number of each task's events in a unit whose own first number is given. */
export function taskRanges(events: readonly EventDraft[], first: number): ReadonlyMap<TaskId, Range> {
  const ranges = new Map<TaskId, [first: number, last: number]>()
  let last: { readonly task: TaskId; readonly range: [first: number, last: number] } | undefined
  for (let index = 0; index < events.length; index++) {
    const task = events[index]?.task
    if (task === undefined) continue
    if (task !== last?.task) {
      last = { task, range: ranges.get(task) ?? [first + index, first + index] }
      ranges.set(task, last.range)
    }
    last.range[1] = first + index
  }
  return ranges
}
