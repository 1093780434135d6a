// Not the global ones, in whose place the tests of whoever uses Holdfast may put a clock that stands still; what cannot be imported is
// kept as it was when this was loaded.
import { clearTimeout, setTimeout } from 'node:timers'

/** The clock of a store that is given no other: the machine's own, because only this process writes to the file. */
export const sqliteClock: { now(): number } = { now: () => Date.now() }

/** Calls once, after so much real time, unless what it returns was called before. No process is kept alive for it. */
export function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms).unref()
  return () => clearTimeout(timer)
}

/** Real time that never goes back, in milliseconds. Only differences of it mean anything. */
export const monotonicMs: () => number = performance.now.bind(performance)

/** Says how many milliseconds of real time have passed since it was made. */
export function stopwatchMs(): () => number {
  const startedAt = monotonicMs()
  return () => monotonicMs() - startedAt
}
