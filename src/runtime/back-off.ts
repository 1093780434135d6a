// One more attempt costs little; a store that is down wants to be left alone.
const delayMsMin = 25
const delayMsMax = 2_000

/** How long to wait before a store that is not available is tried again: longer each time. */
export class BackOff {
  #delayMs = 0

  nextMs(): number {
    this.#delayMs = Math.min(delayMsMax, Math.max(delayMsMin, this.#delayMs * 2))
    return this.#delayMs
  }

  reset(): void {
    this.#delayMs = 0
  }
}
