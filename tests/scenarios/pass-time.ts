import type { ManualClock } from '../../src/testing/manual-clock.ts'

/** Lets time pass, `stepMs` by `stepMs`, until the promise settles, for what needs both timers and commits to happen. */
export async function passTime<Value>(clock: ManualClock, promise: Promise<Value>, stepMs = 1_000): Promise<Value> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  while (!isSettled) await clock.advance(stepMs)
  return promise
}
