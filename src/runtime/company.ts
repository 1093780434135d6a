import { systemClock } from './clock.ts'

// Whoever was answered and asks again does so within this time, on one machine. It is the machine's time because it only
// decides which batch something goes into: nothing that is stored or shown depends on it.
const waitMs = 1

/**
 * What ends right after it was accepted would be committed alone, and the next request would wait for that commit and
 * then for its own. So such ends wait a moment for company. What people watch (events, cancels) never waits.
 */
export class Company {
  #come: () => void = () => {}

  /** Resolves when company has come, or soon. */
  async wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = systemClock.setTimer(waitMs, resolve)
    this.#come = resolve
    await promise
    timer.cancel()
    this.#come = () => {}
  }

  come(): void {
    this.#come()
  }
}
