import { setImmediate as nextTurn } from 'node:timers/promises'
import { invariant } from '../core/errors.ts'
import type { Clock, Timer } from '../runtime/clock.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves time on by `ms`, and fires the timers that fall due on the way, each at its own instant: the earliest
   * first, of equal ones the first set. Before, between and after them, promises settle; a timer set by what they do
   * fires as well if it falls due. Calls that overlap follow each other. Rejects if a timer's callback throws;
   * time then stands at that timer.
   */
  advance(ms: number): Promise<void>
  /** How many timers are set, have not fired and are not cancelled. */
  readonly pendingTimerCount: number
}

interface PendingTimer {
  readonly dueAt: number
  readonly fire: () => void
}

// Not 0, which a careless check takes for "none"; round, so that an instant is read as an offset.
const defaultStartAt = 1_800_000_000_000

// One turn of the event loop settles any chain of promises. What passes through an immediate of its own, such as a
// commit that gathers what others want to write, needs one more for each; this is room for several.
const settleTurns = 8

/** `settle` lets what can happen now happen; with a store over a network that takes more than turns of the event loop. */
export function manualClock(startAt = defaultStartAt, settle = settleHere): ManualClock {
  const timers = new Set<PendingTimer>()
  let now = startAt
  let last: Promise<void> = Promise.resolve()

  async function advance(ms: number): Promise<void> {
    await settle()
    const end = now + ms
    for (let due = earliest(timers, end); due !== undefined; due = earliest(timers, end)) {
      timers.delete(due)
      now = due.dueAt
      due.fire()
      await settle()
    }
    now = end
  }

  return {
    now: () => now,
    setTimer(afterMs, fire): Timer {
      invariant(!Number.isNaN(afterMs), 'the delay of a timer is a number')
      const timer = { dueAt: now + Math.max(0, afterMs), fire }
      timers.add(timer)
      return { cancel: () => void timers.delete(timer) }
    },
    async advance(ms) {
      invariant(ms >= 0, 'a manual clock moves forward')
      const done = last.then(() => advance(ms))
      // The caller is told of a failure; the next call only waits for it to be over.
      last = done.catch(() => undefined)
      await done
    },
    get pendingTimerCount() {
      return timers.size
    },
  }
}

/** A set keeps the order of insertion, so of equal instants the timer set first is found first. */
function earliest(timers: Iterable<PendingTimer>, end: number): PendingTimer | undefined {
  let found: PendingTimer | undefined
  for (const timer of timers) {
    if (timer.dueAt <= end && (found === undefined || timer.dueAt < found.dueAt)) found = timer
  }
  return found
}

async function settleHere(): Promise<void> {
  for (let turn = 0; turn < settleTurns; turn += 1) await nextTurn()
}
