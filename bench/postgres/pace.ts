import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for the moments of a schedule that begins at random: whoever waited from one event to the next would be put in step with
 * all others by one delay, and from then on all events would come at once.
 */
export class Pace {
  readonly #everyMs: number
  #at: number

  constructor(everyMs: number) {
    this.#everyMs = everyMs
    this.#at = performance.now() + Math.random() * everyMs
  }

  async next(): Promise<void> {
    await sleep(Math.max(0, this.#at - performance.now()))
    this.#at += this.#everyMs
  }
}
