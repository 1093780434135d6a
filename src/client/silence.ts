import type { ClientClock } from './clock.ts'

// The server says something at least this often: a comment on a stream, a pong to a ping on a socket.
const beatMs = 15_000
// Two may be late; three in a row are not.
const silentBeatsMax = 3

/** Watches a connection that may have died without a word. */
export class Silence {
  readonly #clock: ClientClock
  readonly #onBeat: () => void
  readonly #onDead: () => void
  #silentBeats = 0
  #timer: { cancel(): void } | undefined

  /** `onBeat` is called after a beat in which nothing was heard; it may ask for a sign of life. */
  constructor(clock: ClientClock, onDead: () => void, onBeat: () => void = () => {}) {
    this.#clock = clock
    this.#onDead = onDead
    this.#onBeat = onBeat
    this.#arm()
  }

  heard(): void {
    this.#silentBeats = 0
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(beatMs, () => {
      this.#silentBeats += 1
      if (this.#silentBeats > silentBeatsMax) return this.#onDead()
      if (this.#silentBeats > 1) this.#onBeat()
      if (this.#timer) this.#arm()
    })
  }
}
