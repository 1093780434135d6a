import { invariant } from '../core/errors.ts'

/** Where the runtime gets its time from. The only other source of time is the store's clock, for what is stored. */
export interface Clock {
  /** Milliseconds since the epoch. It may jump; order never depends on it. */
  now(): number
  /** Calls `fire` once, `afterMs` from now, never before this call returns. A negative delay counts as 0. */
  setTimer(afterMs: number, fire: () => void): Timer
}

export interface Timer {
  /** After this `fire` is not called. Harmless if it was called already. */
  cancel(): void
}

// The longest delay that setTimeout takes; a longer one would fire at once.
const sliceMsMax = 2 ** 31 - 1

/**
 * The clock of the machine.
 *
 * C1 Delays are measured by a monotonic clock: when the wall clock jumps, `now` jumps and no timer does.
 * C2 A delay longer than `setTimeout` takes is waited for in slices.
 * C3 A pending timer keeps the process alive. Whoever sets one cancels it when it closes; a process that hangs
 *    at its end shows a forgotten timer, where an unreferenced one would let it die in the middle of a sleep.
 */
export const systemClock: Clock = {
  now: () => Date.now(),

  setTimer(afterMs, fire) {
    invariant(!Number.isNaN(afterMs), 'the delay of a timer is a number')
    let slice = wait(Math.max(0, afterMs))

    function wait(ms: number): NodeJS.Timeout {
      if (ms <= sliceMsMax) return setTimeout(fire, ms)
      return setTimeout(() => {
        slice = wait(ms - sliceMsMax)
      }, sliceMsMax)
    }

    return { cancel: () => clearTimeout(slice) }
  },
}

/** A timer to be waited for along with something else. Whoever stops waiting cancels it. */
export function expiry(clock: Clock, afterMs: number): Timer & { readonly expired: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.setTimer(afterMs, resolve)
  return { expired: promise, cancel: () => timer.cancel() }
}

/** Starts to measure; what it returns tells the seconds since. For metrics: nothing is decided by it. */
export function stopwatch(): () => number {
  const startedAt = performance.now()
  return () => (performance.now() - startedAt) / 1000
}

/** Resolves after what is ready to run in this turn of the event loop has run. Not time: it never waits. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
