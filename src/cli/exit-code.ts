import { type ErrorCode, isHoldfastError, type Task } from '../client/index.ts'

/** What the process ends with; documented in docs/cli.md. */
export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  failed: 3,
  unauthenticated: 4,
  notFound: 5,
  conflict: 6,
  unreachable: 7,
  cancelled: 8,
  timeout: 124,
  interrupted: 130,
} as const

/** What is not in here is an error like any other. */
const byCode: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid_request: exitCodes.usage,
  invalid_input: exitCodes.usage,
  reserved_name: exitCodes.usage,
  unauthenticated: exitCodes.unauthenticated,
  forbidden_origin: exitCodes.unauthenticated,
  not_found: exitCodes.notFound,
  unknown_agent: exitCodes.notFound,
  offset_gone: exitCodes.notFound,
  busy: exitCodes.conflict,
  idempotency_conflict: exitCodes.conflict,
  name_taken: exitCodes.conflict,
  task_terminated: exitCodes.conflict,
  no_inbox: exitCodes.conflict,
  already_answered: exitCodes.conflict,
  offset_ahead: exitCodes.conflict,
  store_locked: exitCodes.conflict,
  unreachable: exitCodes.unreachable,
  draining: exitCodes.unreachable,
  store_unavailable: exitCodes.unreachable,
}

export function exitCodeOf(error: unknown): number {
  return (isHoldfastError(error) ? byCode[error.code] : undefined) ?? exitCodes.error
}

/** How a command ends that mirrors how a task ended. One that ran out of its own time ends as a command that did. */
export function outcomeCode({ status, error }: Pick<Task, 'status' | 'error'>): number {
  if (error?.code === 'timeout') return exitCodes.timeout
  if (status === 'failed') return exitCodes.failed
  return status === 'cancelled' ? exitCodes.cancelled : exitCodes.ok
}
