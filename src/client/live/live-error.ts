import { type ErrorCode, isHoldfastError } from '../../core/errors.ts'

/** What is wrong, as a value to show. */
export interface LiveError {
  readonly code: ErrorCode
  readonly message: string
  /** By which the server's log tells more; absent if the server was not reached. */
  readonly requestId?: string
}

/** What a client rejects with. Anything else is a defect, and is left to whoever handles those. */
export function toLiveError(error: unknown): LiveError {
  if (!isHoldfastError(error)) throw error
  const { code, message, facts } = error
  const { requestId } = facts
  return { code, message, ...(typeof requestId === 'string' && { requestId }) }
}
