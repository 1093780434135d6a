import type { TaskId } from './id.ts'
import { isRun, type TaskRecord } from './task.ts'

export function isQueued(record: TaskRecord): boolean {
  return record.status === 'pending' && isRun(record)
}

/** How many pending runs start before each pending run of a thread, whose tasks these are. */
export function positionsOf(tasks: Iterable<TaskRecord>): ReadonlyMap<TaskId, number> {
  const queue = [...tasks].filter(isQueued).sort((a, b) => a.place - b.place)
  return new Map(queue.map((record, position) => [record.id, position]))
}
