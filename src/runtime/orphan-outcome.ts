import { isOverdue } from '../core/deadline.ts'
import type { Outcome } from '../core/outcome.ts'
import type { TaskRecord } from '../core/task.ts'
import { timedOut } from './agent-outcome.ts'
import type { Registry } from './registry.ts'

// How tasks end whose node is gone.

export const cancelledOutcome: Outcome = { status: 'cancelled' }

function orphanedOutcome(record: TaskRecord): Outcome {
  const why = record.closure ? 'its code was in that process only' : 'its agent cannot be resumed'
  const message = `The task was orphaned: the process that ran it is gone, and ${why}`
  return { status: 'failed', error: { code: 'orphaned', message } }
}

export function poisonedOutcome(crashes: number): Outcome {
  const message = `The process that ran the task died ${crashes} times in a row before it got any further`
  return { status: 'failed', error: { code: 'poisoned', message } }
}

/** How a task ends that cannot go on, as far as its record tells. */
export function onlyOutcome(record: TaskRecord, now: number, agents: Registry): Outcome | undefined {
  if (record.cancelRequestedAt !== undefined) return cancelledOutcome
  if (isOverdue(record, now)) return timedOut(record, false)
  const agent = record.agent === undefined ? undefined : agents.get(record.agent)
  return record.closure || !agent || agent.isResumable === false ? orphanedOutcome(record) : undefined
}
