import { type ErrorCode, type HoldfastError, isHoldfastError } from '../core/errors.ts'
import { httpStatus } from './http-status.ts'

/** What a caller is told instead of an answer (RFC 9457). Beside these fields stand the facts of its code. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ErrorCode
  readonly detail?: string
  readonly requestId: string
  readonly [fact: string]: unknown
}

const titles: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'Valid credentials are needed',
  forbidden_origin: 'The host or origin is not allowed',
  not_found: 'Not found',
  method_not_allowed: 'The path does not take this method',
  busy: 'The thread has a live run',
  idempotency_conflict: 'The idempotency key was used for another request',
  name_taken: 'The name is taken',
  task_terminated: 'The task has ended or is being cancelled',
  no_inbox: 'The task has no inbox',
  already_answered: 'The question was answered before',
  offset_ahead: 'The offset is beyond the end of the log',
  offset_gone: 'The offset is before the beginning of the log',
  too_large: 'Too large',
  unknown_agent: 'The agent is not registered',
  reserved_name: 'The name is reserved',
  invalid_input: 'The input does not fit the request',
  limit_reached: 'A limit is reached',
  internal_error: 'Something went wrong in the server',
  draining: 'The server is shutting down',
  store_unavailable: 'The store is not available',
  not_owner: 'Not found',
  not_serialisable: 'The input does not fit the request',
  unanswered: 'Something went wrong in the server',
  no_store: 'The store is not available',
  store_locked: 'The store is not available',
  store_schema: 'The store is not available',
  store_failed: 'The store is not available',
  thread_locked: 'The store is not available',
  cannot_listen: 'Something went wrong in the server',
  unreachable: 'Something went wrong in the server',
}

/** Codes that exist in process only, and what they are called on the wire. */
const wireCodes: Readonly<Partial<Record<ErrorCode, ErrorCode>>> = {
  not_owner: 'not_found',
  not_serialisable: 'invalid_input',
  unanswered: 'internal_error',
  no_store: 'store_unavailable',
  store_locked: 'store_unavailable',
  store_schema: 'store_unavailable',
  store_failed: 'store_unavailable',
  thread_locked: 'store_unavailable',
  cannot_listen: 'internal_error',
  unreachable: 'internal_error',
}

/**
 * Codes whose message and facts stay here. What is not there and what is another's must not be told apart; what a store
 * says may name files and statements; and of a defect nothing is for the caller's eyes.
 */
const silentCodes: readonly ErrorCode[] = ['not_found', 'store_unavailable', 'internal_error']

const retryAfterMsDefault = 1000

/** The problem that an error is answered with. What is no HoldfastError is a defect, and shows nothing of itself. */
export function toProblem(error: unknown, requestId: string): Problem {
  const found = isHoldfastError(error) ? error : undefined
  const code = found ? (wireCodes[found.code] ?? found.code) : 'internal_error'
  return {
    ...(found && factsOf(found, code)),
    type: `urn:holdfast:error:${code}`,
    title: titles[code],
    status: httpStatus[code],
    code,
    ...(found && !silentCodes.includes(code) && { detail: found.message }),
    requestId,
  }
}

/** The value of `Retry-After`, for problems that pass by themselves. */
export function retryAfterSeconds({ status, retryAfterMs }: Problem): number | undefined {
  if (status !== 429 && status !== 503) return undefined
  const ms = typeof retryAfterMs === 'number' ? retryAfterMs : retryAfterMsDefault
  return Math.max(1, Math.ceil(ms / 1000))
}

function factsOf({ facts, message }: HoldfastError, code: ErrorCode): Readonly<Record<string, unknown>> {
  if (code === 'invalid_request' && !('errors' in facts)) return { ...facts, errors: [{ path: '', message }] }
  if (!silentCodes.includes(code)) return facts
  const { retryAfterMs } = facts
  return code === 'store_unavailable' && retryAfterMs !== undefined ? { retryAfterMs } : {}
}
