import type { Outcome } from '../core/outcome.ts'
import type { TaskRecord } from '../core/task.ts'

// How tasks end whose node is gone.

export const cancelledOutcome: Outcome = { status: 'cancelled' }

export function orphanedOutcome(record: TaskRecord): Outcome {
  const why = record.closure ? 'its code was in that process only' : 'its agent cannot be resumed'
  const message = `The task was orphaned: the process that ran it is gone, and ${why}`
  return { status: 'failed', error: { code: 'orphaned', message } }
}

export function poisonedOutcome(crashes: number): Outcome {
  const message = `The process that ran the task died ${crashes} times in a row before it got any further`
  return { status: 'failed', error: { code: 'poisoned', message } }
}
