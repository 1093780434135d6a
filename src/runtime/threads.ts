import type { ThreadKey } from '../core/id.ts'
import { emptyPart } from '../core/live-part.ts'
import { LiveThread } from '../core/live-thread.ts'
import type { Store } from '../stores/store.ts'
import { readUntaken } from './read-untaken.ts'

// Enough for the threads a busy node works on; a thread that is not here costs one read.
const threadsMax = 1024

/**
 * The live parts of the threads that decisions were lately made in.
 *
 * T1 A thread is here only while every unit decided from it has been committed or is on its way.
 * T2 After a refusal or a failed commit it is discarded, and read again before the next decision.
 * T3 On a store that others share it may be out of date. What is decided from it and writes to the thread is checked by the
 *    commit; what comes to nothing, or is refused, counts only if it was read after it was asked for (`isAsOf`).
 */
export class Threads {
  readonly #store: Store
  readonly #live = new Map<ThreadKey, Known>()
  readonly #loading = new Map<ThreadKey, Promise<void>>()
  readonly #waking = new Set<ThreadKey>()
  #moment = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** The moment at which something is asked for. Moments only tell what was before what. */
  nextMoment(): number {
    this.#moment += 1
    return this.#moment
  }

  get(key: ThreadKey): LiveThread | undefined {
    const known = this.#live.get(key)
    if (!known) return undefined
    // Moved to the end: the first ones are those not used for the longest time.
    this.#live.delete(key)
    this.#live.set(key, known)
    return known.live
  }

  /** T3. Whether it shows all that was committed before this moment, by whatever node. */
  isAsOf(key: ThreadKey, moment: number): boolean {
    return !this.#store.isShared || (this.#live.get(key)?.readAt ?? 0) > moment
  }

  has(key: ThreadKey): boolean {
    return this.#live.has(key)
  }

  /** Reads a thread from the store, once however often it is asked for meanwhile. */
  load(key: ThreadKey): Promise<void> {
    const underWay = this.#loading.get(key)
    if (underWay) return underWay
    const loading = this.#read(key).finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  /** Its next read is for a wake. */
  wantUntaken(key: ThreadKey): void {
    this.#waking.add(key)
  }

  discard(key: ThreadKey): void {
    this.#live.delete(key)
  }

  /** Drops the longest unused, if there are too many. Only called while no unit is on its way (T1). */
  trim(): void {
    for (const key of this.#live.keys()) {
      if (this.#live.size <= threadsMax) return
      this.#live.delete(key)
    }
  }

  async #read(key: ThreadKey): Promise<void> {
    const readAt = this.nextMoment()
    const isWaking = this.#waking.has(key)
    const part = (await this.#store.livePart(key)) ?? emptyPart(key)
    // Read after it: whatever is taken or ends in between moves the revision, and then the wake is refused and decided again.
    const untaken = isWaking && { untaken: await readUntaken(this.#store, part) }
    if (isWaking) this.#waking.delete(key)
    this.#live.set(key, { live: new LiveThread({ ...part, ...untaken }), readAt })
  }
}

interface Known {
  readonly live: LiveThread
  /** The moment before it was read. */
  readonly readAt: number
}
