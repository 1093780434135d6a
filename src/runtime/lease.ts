import { isHoldfastError } from '../core/errors.ts'
import type { Store } from '../stores/store.ts'
import type { Clock, Timer } from './clock.ts'
import type { Logger } from './logger.ts'

export interface LeaseParts {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly node: string
  readonly leaseMs: number
}

export interface LeaseListener {
  /** It had run out, so others may have taken over what is executed here. */
  onLapsed(): Promise<void> | void
  /** The store was not available for a renewal. */
  onAway(): void
}

// A renewal that failed is tried again before the lease is over, and among the first things when the store is back.
const againMs = 500

/**
 * What makes a node count as alive.
 *
 * S1 It is renewed every third of its time, and soon again if a renewal fails.
 * S2 It is steady while nothing speaks against this node being able to tell the dead from the living. When the store was
 *    away, all leases may have run out at once though every node lives: whoever comes back first would take all the work
 *    of the others, and they his. So after a failed renewal, or one that came too late, a node takes nothing over until
 *    the next renewal finds the lease held: by then the others have renewed theirs.
 * S3 Where no other node can be, it is always steady: an orphan there was left by an earlier life.
 */
export class Lease {
  readonly #parts: LeaseParts
  #listener: LeaseListener | undefined
  #timer: Timer | undefined
  #renewing: Promise<void> = Promise.resolve()
  #isDoubted = false
  #isSteady = false

  constructor(parts: LeaseParts) {
    this.#parts = parts
  }

  /** S2, S3. */
  get isSteady(): boolean {
    return this.#isSteady || !this.#parts.store.isShared
  }

  /** How often it is renewed (S1). */
  get renewMs(): number {
    return this.#parts.leaseMs / 3
  }

  /** The last renewal failed, whatever else of the store works: in a while others will take this node for gone. */
  get isDoubted(): boolean {
    return this.#isDoubted
  }

  async open(listener: LeaseListener): Promise<void> {
    const { store, node, leaseMs } = this.#parts
    await store.renew(node, leaseMs)
    this.#isSteady = true
    this.#listener = listener
    this.#renewAfter(this.renewMs)
  }

  /** Gives it up, after a renewal that is under way: landing later it would hold up whoever waits for this node's work. */
  async close(): Promise<void> {
    const { store, node, log } = this.#parts
    this.#listener = undefined
    this.#timer?.cancel()
    await this.#renewing
    await store.renew(node, 0).catch((error: unknown) => log.warn({ err: error }, 'the lease could not be given up'))
  }

  #renewAfter(afterMs: number): void {
    if (!this.#listener) return
    this.#timer = this.#parts.clock.setTimer(afterMs, () => {
      this.#renewing = this.#renew()
    })
  }

  async #renew(): Promise<void> {
    const { store, node, leaseMs, log } = this.#parts
    try {
      const { wasHeld } = await store.renew(node, leaseMs)
      this.#isSteady = wasHeld && !this.#isDoubted
      this.#isDoubted = false
      this.#renewAfter(this.renewMs)
      if (!wasHeld) void this.#lapsed()
    } catch (error) {
      const afterMs = Math.min(againMs, leaseMs / 10)
      if (!this.#isDoubted) log.warn({ err: error }, `the lease could not be renewed; tried again every ${afterMs} ms`)
      this.#isSteady = false
      this.#isDoubted = true
      this.#renewAfter(afterMs)
      // A node with nothing to write would not notice that the store is down.
      if (isHoldfastError(error, 'store_unavailable')) this.#listener?.onAway()
    }
  }

  async #lapsed(): Promise<void> {
    const { node, log } = this.#parts
    log.warn({ node }, 'the lease had run out; what others took over is lost to this node')
    try {
      await this.#listener?.onLapsed()
    } catch (error) {
      log.warn({ err: error }, 'what others took over could not be read; it is looked for again')
    }
  }
}
