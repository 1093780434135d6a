import type { ManualClock } from '../../src/testing/manual-clock.ts'

/** Lets time pass, a second at a time, until the promise settles, for what needs both timers and commits to happen. */
export async function passTime<Value>(clock: ManualClock, promise: Promise<Value>): Promise<Value> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  while (!isSettled) await clock.advance(1_000)
  return promise
}
