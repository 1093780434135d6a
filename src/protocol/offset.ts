import { HoldfastError } from '../core/errors.ts'

/** A place in a log, as a header or a query has it: digits only, at most 2^53-1. */
export const offsetPattern = /^0*[0-9]{1,16}$/
export const offsetMessage = 'An offset is a whole number from 0 to 2^53-1, written in digits'

export function parseOffset(text: string): number {
  const offset = offsetPattern.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(offset)) return offset
  throw new HoldfastError('invalid_request', offsetMessage)
}
