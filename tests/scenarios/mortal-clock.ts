import type { Clock, Timer } from '../../src/runtime/clock.ts'

/** The clock of one process: when that is killed, none of its timers fires any more. */
export interface MortalClock extends Clock {
  kill(): void
}

export function mortalClock(clock: Clock): MortalClock {
  const timers = new Set<Timer>()
  let isDead = false
  return {
    now: () => clock.now(),
    setTimer(afterMs, fire) {
      if (isDead) return { cancel: () => {} }
      const timer = clock.setTimer(afterMs, () => {
        timers.delete(timer)
        fire()
      })
      timers.add(timer)
      return {
        cancel: () => {
          timers.delete(timer)
          timer.cancel()
        },
      }
    },
    kill() {
      isDead = true
      for (const timer of timers) timer.cancel()
      timers.clear()
    },
  }
}
