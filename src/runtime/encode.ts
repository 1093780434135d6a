import { HoldfastError } from '../core/errors.ts'
import { fitsIn } from '../core/fits-in.ts'
import type { JsonText } from '../core/id.ts'

/** What is encoded, for the message of an error, and the most it may take. */
export interface EncodeLimit {
  readonly what: string
  readonly bytesMax: number
}

/** Encodes a value as JSON once and for all; what cannot be encoded, or is too large, is the caller's to mend. */
export function encode(value: unknown, limit: EncodeLimit): JsonText {
  const text = encodeWhole(value, limit.what)
  checkFits(text, limit)
  return text
}

/** Encodes a value as JSON, however large it is. `what` names it in the message of an error. */
export function encodeWhole(value: unknown, what: string): JsonText {
  const text = stringify(value, what)
  if (text !== undefined) return text
  throw new HoldfastError('not_serialisable', `${what} is a ${typeof value}, which JSON cannot hold`)
}

export function checkFits(text: JsonText, { what, bytesMax }: EncodeLimit): void {
  if (fitsIn(text, bytesMax)) return
  throw new HoldfastError('too_large', `${what} is larger than ${bytesMax} bytes; keep it elsewhere and pass a link`)
}

function stringify(value: unknown, what: string): JsonText | undefined {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    // A cycle, a BigInt, a toJSON that throws, or nesting beyond the stack.
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    throw new HoldfastError('not_serialisable', `${what} cannot be encoded as JSON: ${reason}`, { cause })
  }
}
