/**
 * Every code a HoldfastError can carry. Those of the wire contract come first; the last group exists in
 * process only. One meaning each: callers check `error.code`, never the class or the message.
 */
export const errorCodes = [
  'invalid_request',
  'unauthenticated',
  'forbidden_origin',
  'not_found',
  'method_not_allowed',
  'busy',
  'idempotency_conflict',
  'name_taken',
  'task_terminated',
  'no_inbox',
  'already_answered',
  'offset_ahead',
  'offset_gone',
  'too_large',
  'unknown_agent',
  'reserved_name',
  'invalid_input',
  'limit_reached',
  'draining',
  'store_unavailable',
  'internal_error',
  'not_owner',
  'not_serialisable',
  'unanswered',
  'no_store',
  'store_locked',
  'store_schema',
  'store_failed',
  'thread_locked',
  'cannot_listen',
  'unreachable',
] as const

/** What a `HoldfastError` is about. Each code has a paragraph in docs/errors.md. */
export type ErrorCode = (typeof errorCodes)[number]

/** How a task that did not complete says why. These codes are stored with the task for ever. */
export const taskErrorCodes = [
  'agent_error',
  'timeout',
  'cancelled',
  'orphaned',
  'poisoned',
  'replay_mismatch',
  'not_serialisable',
  'too_large',
  'emit_overflow',
  'budget',
] as const

/** Why a task did not complete. Each code has a paragraph in docs/errors.md. */
export type TaskErrorCode = (typeof taskErrorCodes)[number]

/** Why a task did not complete, in a code and in a sentence. */
export interface TaskError {
  readonly code: TaskErrorCode
  readonly message: string
}

export interface ErrorDetails {
  readonly cause?: unknown
  /** Facts a caller can act on, such as `head`, `first`, `taskStatus`, `retryAfterMs`. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** The one error class of Holdfast: a broken precondition, named by its code. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError'
  readonly code: ErrorCode
  readonly facts: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.facts = details.facts ?? {}
  }
}

/** Checks by code, so that two copies of the package in one process still understand each other. */
export function isHoldfastError(value: unknown, code?: ErrorCode): value is HoldfastError {
  if (!(value instanceof Error) || value.name !== 'HoldfastError' || !('code' in value)) return false
  return code === undefined || value.code === code
}

/** For a task that is not there, and for one that is not the asker's: the two are not told apart. */
export function notFound(task: string): HoldfastError {
  return new HoldfastError('not_found', `There is no task ${task}`)
}

/** The same for a question. */
export function noSuchQuestion(): HoldfastError {
  return new HoldfastError('not_found', 'There is no such question')
}

class BrokenInvariant extends Error {
  constructor(message: string) {
    super(`Broken invariant: ${message}`)
  }
}

/** Ends an operation whose invariant does not hold. Never caught to go on. */
export function invariant(holds: boolean, message: string): asserts holds {
  if (!holds) throw new BrokenInvariant(message)
}

export function assertNever(value: never): never {
  throw new BrokenInvariant(`unexpected ${JSON.stringify(value)}`)
}

/** For whoever goes on after errors of others. */
export function isBrokenInvariant(error: unknown): boolean {
  return error instanceof BrokenInvariant
}
