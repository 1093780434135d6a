import { HoldfastError, isHoldfastError } from '../../core/errors.ts'

/** What the server says of a statement that failed. Its severity is in the server's language: only the code counts. */
interface ServerError extends Error {
  readonly code: string
}

// The lane is not known, or not where it was thought to be.
export const laneLost = 'HF001'

/**
 * What says nothing against the unit, by class of SQLSTATE, or by code where a class holds several things: a connection, a
 * lack of resources, a conflict of two transactions, an intervention, a time-out, a fault of the system; and a schema or
 * rights that are not as they were when the store was opened.
 */
const passing: Readonly<Record<string, string>> = {
  '08': 'the connection was lost. See whether the server can be reached',
  25: 'a transaction was not as expected. See its log',
  25006: 'it takes no writes. See whether it is a replica, or its default_transaction_read_only is on',
  '25P03':
    'a transaction waited for longer than its idle_in_transaction_session_timeout. See what that is for this user, and ' +
    'whether the network loses what is sent',
  '25P04':
    'a transaction took longer than its transaction_timeout. See what that is for this user, and what slows the server down',
  28: 'it refuses the user. Check user and password',
  '3D': 'it has no such database. Create it',
  '3F': 'its schema is gone. Run `holdfast doctor`, and restore it from a copy',
  40: 'transactions were in each other’s way. It is tried again',
  42: 'its schema or the rights to it are not as expected. Run `holdfast doctor`',
  53: 'it lacks resources. See its log: disk, memory or connections',
  55: 'something holds what is needed. See `pg_stat_activity`',
  57: 'it was stopped, or what was asked took too long. See its log',
  58: 'its system failed. See its log',
  XX: 'it failed. See its log',
}

// With these the server ends a connection, or itself: whether what it was doing is done by then is not known. A disk that
// is full or fails is among them, because it may have failed after the commit was written.
const endings = /^(08...|25P..|53100|57P..|58...|XX...)$/

/** The server has answered that it did not do what was asked; nothing else says that it will not be done. */
export function isRefusal(error: unknown): error is ServerError {
  return isServerError(error) && !endings.test(error.code)
}

/** The server says that it failed, and not whether what was asked is done. */
export function isEnding(error: unknown): boolean {
  return isServerError(error) && endings.test(error.code)
}

/** Transactions were in each other's way, or the time was short: it was not done, and may well be done at once. */
export function isWorthAnother(error: unknown): boolean {
  return isServerError(error) && /^(40...|57014)$/.test(error.code)
}

/** The server takes no writes now: it was not done. Another server may have taken its place for whoever connects anew. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006'
}

/** The server is there, and lets nobody else in. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === '53300'
}

/** Somebody else held a row for longer than it was waited for. */
export function isLocked(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

export function locked(name: string, cause: unknown): HoldfastError {
  const message = `The store ${name} waits for what another program holds. See \`pg_stat_activity\` (${reasonOf(cause)}, 55P03)`
  return new HoldfastError('thread_locked', message, { cause })
}

/** What was asked took longer than the server was told to let a statement or a transaction: less of it may be done in time. */
export function isTooLong(error: unknown): boolean {
  return isServerError(error) && ['57014', '25P04'].includes(error.code)
}

/** The server was told how long to let a statement take, or to wait for a lock. */
export function isCutShort(error: unknown): boolean {
  return ['57014', '55P03'].includes(codeOf(error) ?? '')
}

/** A prepared statement is not there, or there already: the connection behind a pooler is another one. */
export function isLostName(error: unknown): boolean {
  return isServerError(error) && ['26000', '42P05'].includes(error.code)
}

export function codeOf(error: unknown): string | undefined {
  return isServerError(error) ? error.code : undefined
}

/** Translates what driver and server report. What a unit did wrong stays the error it is. */
export function translate(error: unknown, name: string): unknown {
  if (isHoldfastError(error)) return error
  if (!isServerError(error)) return unavailable(name, `it cannot be reached (${reasonOf(error)})`, error)
  const why = passing[error.code] ?? passing[error.code.slice(0, 2)]
  return why === undefined ? error : unavailable(name, `${why} (${error.code} ${error.message})`, error)
}

/** Nobody was there, or where that is is not known: no connection was made. */
export function isUnreachable(error: unknown): boolean {
  if (!isHoldfastError(error, 'store_unavailable') || !(error.cause instanceof Error)) return false
  const { cause } = error
  if ('syscall' in cause) return cause.syscall === 'connect' || cause.syscall === 'getaddrinfo'
  // The driver's words for a connection that took too long to make.
  return cause instanceof AggregateError || cause.message === 'timeout expired'
}

export function unavailable(name: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError('store_unavailable', `The store ${name} is not available: ${why}`, { cause })
}

// Five characters, which no code of the operating system is together with a severity.
function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && 'severity' in error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code))
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A host with several addresses is tried at each of them.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  return first instanceof Error ? first.message : error.message
}
