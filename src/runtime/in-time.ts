import { HoldfastError } from '../core/errors.ts'
import { TooLong } from '../stores/store.ts'

// Nothing else is written while a store tries in vain, so it is not asked again as soon as it has given up.
const retryAfterMs = 10_000

/** Waits for what is asked for to be written. What took the store too long is no fault of it: another time it may well be done. */
export async function inTime<Value>(
  change: Promise<Value>,
  message = 'The store did not write this in time; ask again, or for less at once',
): Promise<Value> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof TooLong)) throw error
    throw new HoldfastError('store_unavailable', message, { cause: error, facts: { retryAfterMs } })
  }
}
