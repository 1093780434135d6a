import { isHoldfastError } from '../../../src/core/errors.ts'

/** The code of the HoldfastError that a call throws; undefined if it returns. Any other error is thrown on. */
export function codeOf(call: () => unknown): string | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    if (isHoldfastError(error)) return error.code
    throw error
  }
}
