import { BackOff } from './back-off.ts'
import type { Clock, Timer } from './clock.ts'

// Some are never tried again. What is forgotten is tried again sooner, and that is all.
const backOffsMax = 1_000

export interface RestsParts<Key> {
  readonly clock: Clock
  /** One of them may be tried again. */
  onOver(): void
  /** Nothing is known of its failures any more. */
  onForgotten?(key: Key): void
}

/** What failed and is left alone for a while, longer each time, until it is forgotten. */
export class Rests<Key> {
  readonly #parts: RestsParts<Key>
  /** The one that failed longest ago first. */
  readonly #backOffs = new Map<Key, BackOff>()
  readonly #resting = new Map<Key, Timer>()
  #isClosed = false

  constructor(parts: RestsParts<Key>) {
    this.#parts = parts
  }

  /** Nothing has failed that was not forgotten since. */
  get isEmpty(): boolean {
    return this.#backOffs.size === 0
  }

  get keys(): readonly Key[] {
    return [...this.#resting.keys()]
  }

  has(key: Key): boolean {
    return this.#resting.has(key)
  }

  /** Says for how long. Once it is closed nothing rests, because nothing is tried again. */
  begin(key: Key, stretched: (restMs: number) => number = (restMs) => restMs): number | undefined {
    if (this.#isClosed) return undefined
    const backOff = this.#backOffs.get(key) ?? new BackOff()
    this.#backOffs.delete(key)
    const [oldest] = this.#backOffs.keys()
    if (this.#backOffs.size >= backOffsMax && oldest !== undefined) this.forget(oldest)
    this.#backOffs.set(key, backOff)
    const afterMs = stretched(backOff.nextMs())
    const over = () => {
      this.#resting.delete(key)
      this.#parts.onOver()
    }
    this.end(key)
    this.#resting.set(key, this.#parts.clock.setTimer(afterMs, over))
    return afterMs
  }

  /** It may be tried again now. If it fails again, it rests for longer. */
  end(key: Key): void {
    this.#resting.get(key)?.cancel()
    this.#resting.delete(key)
  }

  /** It did not fail: the next rest will be a short one. */
  forget(key: Key): void {
    this.#backOffs.delete(key)
    this.#parts.onForgotten?.(key)
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#resting.values()) timer.cancel()
    this.#resting.clear()
  }
}
