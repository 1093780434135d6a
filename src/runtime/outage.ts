import type { Store } from '../stores/store.ts'
import { BackOff } from './back-off.ts'
import type { Clock, Timer } from './clock.ts'
import type { Logger } from './logger.ts'
import { Waiters } from './waiters.ts'

export interface OutageParts {
  readonly store: Pick<Store, 'commit'>
  readonly clock: Clock
  readonly log: Logger
  /** The store is found to be down. */
  onDown(error: unknown): void
  /** Whether something is being written, which finds out by itself whether the store is back. */
  isWriting(): boolean
}

/** Whether the store is down, as far as is known, and the search for when it is back. */
export class Outage {
  readonly #parts: OutageParts
  readonly #backOff = new BackOff()
  readonly #onDown = new Waiters()
  #isDown = false
  #isClosed = false
  #nextAsk: Timer | undefined
  /** To be told of a commit that nobody can tell the fate of. */
  readonly onLate = (why?: unknown): void => this.begin(new Error('A commit was not answered', { cause: why }))
  /** Has whoever waits for it look again. */
  readonly tell = (): void => this.#onDown.release()

  constructor(parts: OutageParts) {
    this.#parts = parts
  }

  get isDown(): boolean {
    return this.#isDown
  }

  /** Resolves when the store goes down, or somebody was told to look again. */
  wait(): Promise<void> {
    return this.#onDown.wait()
  }

  begin(error: unknown): void {
    if (!this.#isDown) this.#parts.log.error({ err: error }, 'the store is not available; writing is retried')
    this.#isDown = true
    this.tell()
    this.#parts.onDown(error)
  }

  /** A commit was answered. */
  end(): void {
    if (this.#isDown) this.#parts.log.info({}, 'the store is back')
    this.#isDown = false
    this.#backOff.reset()
  }

  /** Waits before the next attempt, longer each time. */
  async pause(error: unknown): Promise<void> {
    this.begin(error)
    if (!this.#isClosed) await this.#backOff.pause(this.#parts.clock)
  }

  /** Asks by an empty batch, and again if need be. Whatever is written meanwhile asks as well. */
  async ask(): Promise<void> {
    if (this.#isClosed || this.#parts.isWriting()) return
    try {
      await this.#parts.store.commit([], this.onLate)
      this.end()
    } catch (error) {
      this.begin(error)
      this.#nextAsk?.cancel()
      const again = () => void (this.#isDown && this.ask())
      this.#nextAsk = this.#parts.clock.setTimer(this.#backOff.nextMs(), again)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#nextAsk?.cancel()
    this.#backOff.endPause()
  }
}
