import { type ErrorCode, HoldfastError, isHoldfastError } from '../../core/errors.ts'

/** An error as it crosses from the writer's thread, which would strip ours of its code. */
export interface Failure {
  readonly code?: ErrorCode
  readonly message: string
  readonly cause: unknown
}

// SQLite's primary result codes, the low byte of what an error carries.
const busy = 5
const locked = 6
const noMemory = 7
const readOnly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const notADatabase = 26

const failedSyncs: readonly number[] = [ioError | (4 << 8), ioError | (5 << 8)]

const reasons: Readonly<Record<number, string>> = {
  [busy]: 'another program holds it. Close what reads or writes the file beside Holdfast',
  [locked]: 'another program holds it. Close what reads or writes the file beside Holdfast',
  [noMemory]: 'there is no memory left for it. Free some',
  [readOnly]: 'it cannot be written to. Make the file and its folder writable',
  [ioError]: 'the disk did not do what was asked of it. See the system log',
  [full]: 'the disk is full. Free some space',
  [cannotOpen]: 'it cannot be opened. Make sure that its folder is there and writable, and that the path names a file',
}

/**
 * Translates what SQLite reports. A failed fsync leaves the file in a state that nobody knows, and so does damage found
 * while working; everything that may pass is `store_unavailable`; what a unit did wrong stays the error it is.
 */
export function translate(error: unknown, path: string): unknown {
  const result = resultCode(error)
  if (result === undefined) return error
  const primary = result & 0xff
  if (failedSyncs.includes(result)) {
    const message = `The disk did not confirm a write to ${path}. Stop, check the disk, and start again`
    return new HoldfastError('store_failed', message, { cause: error })
  }
  if (primary === corrupt || primary === notADatabase) {
    const message = `The database ${path} is damaged. Stop, and restore it from a copy`
    return new HoldfastError('store_failed', message, { cause: error })
  }
  const reason = reasons[primary]
  if (reason === undefined) return error
  return new HoldfastError('store_unavailable', `The database ${path} does not answer: ${reason}`, { cause: error })
}

/** As `translate`, for opening: a file that is no database, or a damaged one, is one we do not understand. */
export function translateOpening(error: unknown, path: string): unknown {
  const primary = (resultCode(error) ?? 0) & 0xff
  if (primary !== corrupt && primary !== notADatabase) return translate(error, path)
  const message = `The file ${path} is no SQLite database, or is damaged. Name another file, or restore it from a copy`
  return new HoldfastError('store_schema', message, { cause: error })
}

export function isBusy(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === busy
}

export function toFailure(error: unknown): Failure {
  if (isHoldfastError(error)) return { code: error.code, message: error.message, cause: error.cause }
  return { message: error instanceof Error ? error.message : String(error), cause: error }
}

export function fromFailure({ code, message, cause }: Failure): Error {
  return code === undefined ? new Error(message, { cause }) : new HoldfastError(code, message, { cause })
}

/** SQLite's extended result code, or undefined for an error that is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}
