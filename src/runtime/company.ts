import { type Clock, expiry } from './clock.ts'

// Whoever was answered and asks again does so within this time, on one machine.
const waitMs = 1

/**
 * What ends right after it was accepted would be committed alone, and the next request would wait for that commit and
 * then for its own. So such ends wait a moment for company. What people watch (events, cancels) never waits.
 */
export class Company {
  readonly #clock: Clock
  #come: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when company has come, or soon. */
  async wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = expiry(this.#clock, waitMs)
    this.#come = resolve
    await Promise.race([promise, timer.expired])
    timer.cancel()
    this.#come = () => {}
  }

  come(): void {
    this.#come()
  }
}
