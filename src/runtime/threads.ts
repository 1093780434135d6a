import type { ThreadKey } from '../core/id.ts'
import { emptyPart } from '../core/live-part.ts'
import { LiveThread } from '../core/live-thread.ts'
import type { Store } from '../stores/store.ts'

// Enough for the threads a busy node works on; a thread that is not here costs one read.
const threadsMax = 1024

/**
 * The live parts of the threads that decisions were lately made in.
 *
 * T1 A thread is here only while every unit decided from it has been committed or is on its way.
 * T2 After a refusal or a failed commit it is discarded, and read again before the next decision.
 */
export class Threads {
  readonly #store: Store
  readonly #live = new Map<ThreadKey, LiveThread>()
  readonly #loading = new Map<ThreadKey, Promise<void>>()

  constructor(store: Store) {
    this.#store = store
  }

  get(key: ThreadKey): LiveThread | undefined {
    const live = this.#live.get(key)
    if (!live) return undefined
    // Moved to the end: the first ones are those not used for the longest time.
    this.#live.delete(key)
    this.#live.set(key, live)
    return live
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
    const part = await this.#store.livePart(key)
    this.#live.set(key, new LiveThread(part ?? emptyPart(key)))
  }
}
