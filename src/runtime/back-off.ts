import { type Clock, expiry } from './clock.ts'

// One more attempt costs little; a store that is down wants to be left alone.
const delayMsMin = 25
const delayMsMax = 2_000

/** How long to wait before a store that is not available is tried again: longer each time. */
export class BackOff {
  #delayMs = 0
  #endPause: () => void = () => {}

  nextMs(): number {
    this.#delayMs = Math.min(delayMsMax, Math.max(delayMsMin, this.#delayMs * 2))
    return this.#delayMs
  }

  reset(): void {
    this.#delayMs = 0
  }

  /** Waits for that time, or until `endPause`. */
  async pause(clock: Clock): Promise<void> {
    const { expired, cancel } = expiry(clock, this.nextMs())
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#endPause = resolve
    await Promise.race([expired, ended])
    cancel()
  }

  endPause(): void {
    this.#endPause()
  }
}
