import type { World } from './world.ts'

// Far more time than any test waits for.
const ticksMax = 5_000

/**
 * Lets time pass until the promise settles, but only while nothing else is being done. So a test of time is exact on every
 * store: no commit is ever overtaken by the clock. Durations that are multiples of `tickMs` pass to the millisecond.
 */
export async function inQuietTime<Value>(here: World, promise: Promise<Value>, tickMs = 5): Promise<Value> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  for (let tick = 0; ; tick += 1) {
    await here.quiet()
    if (isSettled) return promise
    if (tick > ticksMax) throw new Error(`Nothing has come of it in ${ticksMax * tickMs} ms`)
    await here.clock.advance(tickMs)
  }
}
