import type { TaskRecord } from './task.ts'

/** When the time of a task is over, by the store's clock. None if it has no limit, or has not started, or while a question waits. */
export function deadlineOf({ startedAt, timeoutMs, waitedMs = 0, waitingSince }: TaskRecord): number | undefined {
  if (timeoutMs === undefined || startedAt === undefined || waitingSince !== undefined) return undefined
  return startedAt + timeoutMs + waitedMs
}

export function isOverdue(record: TaskRecord, now: number): boolean {
  const deadline = deadlineOf(record)
  return deadline !== undefined && deadline <= now
}
