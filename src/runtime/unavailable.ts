import { HoldfastError } from '../core/errors.ts'

/** What an intent is told while the store is down. */
export function unavailable(cause?: unknown): HoldfastError {
  return new HoldfastError('store_unavailable', 'The store is not available; nothing was written, ask again', {
    cause,
    facts: { retryAfterMs: 1000 },
  })
}
