import { systemClock } from '../runtime/clock.ts'

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(ms, resolve))
}

/** Rejects when this takes longer, and leaves it to itself. */
export async function within<Result>(ms: number, work: Promise<Result>, what: string): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = systemClock.setTimer(ms, () => late.reject(new Error(`${what} took longer than ${ms} ms`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    timer.cancel()
  }
}
