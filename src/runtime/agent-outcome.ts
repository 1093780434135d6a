import { isHoldfastError, type TaskErrorCode, taskErrorCodes } from '../core/errors.ts'
import { errorText, type Outcome, thrownOutcome } from '../core/outcome.ts'
import { ReplayMismatch } from '../core/replay.ts'
import type { TaskRecord } from '../core/task.ts'

/** What a task comes to whose code threw. A value that throws when it is looked at is an error like any other. */
export function outcomeOf(thrown: unknown): Outcome {
  try {
    const code = thrown instanceof ReplayMismatch || isHoldfastError(thrown) ? (thrown.code as string) : undefined
    if (code === undefined || !(taskErrorCodes as readonly string[]).includes(code)) return thrownOutcome(thrown)
    return { status: 'failed', error: { code: code as TaskErrorCode, message: errorText(thrown) } }
  } catch {
    return { status: 'failed', error: { code: 'agent_error', message: errorText(thrown) } }
  }
}

/** Out of time, whatever else its code came to. */
export function timedOut(record: TaskRecord, isForced: boolean): Outcome {
  const message = `The task ran longer than its ${record.timeoutMs} ms`
  return { status: 'failed', error: { code: 'timeout', message }, ...(isForced && { isForced }) }
}

export function isForced(outcome: Outcome): boolean {
  return outcome.status !== 'completed' && outcome.isForced === true
}
