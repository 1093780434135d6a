import type { EventDraft, StoredEvent } from '../core/event.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { Store } from '../stores/store.ts'
import type { Metrics } from './metrics.ts'
import { Ring } from './ring.ts'
import { Subscription } from './subscription.ts'

// Large enough that a replay is mostly reading, small enough that it does not hold up the event loop.
const pageEventsMax = 1000

export interface Watching {
  readonly after: number
  readonly task?: { readonly id: TaskId; readonly first: number }
}

/** Hands committed events to whoever watches. A thread that nobody watches costs nothing here. */
export class Feed {
  readonly #store: Store
  readonly #metrics: Metrics
  readonly #rings = new Map<ThreadKey, Ring>()
  readonly #open = new Set<Subscription>()

  constructor(store: Store, metrics: Metrics) {
    this.#store = store
    this.#metrics = metrics
  }

  get streamCount(): number {
    return this.#open.size
  }

  watchersOf(key: ThreadKey): number {
    return this.#rings.get(key)?.watcherCount ?? 0
  }

  /** Called after the commit, in the order of the commits. */
  publish(key: ThreadKey, first: number, at: number, drafts: readonly EventDraft[]): void {
    const ring = this.#rings.get(key)
    if (!ring) return
    ring.append(drafts.map((draft, i): StoredEvent => ({ ...draft, seq: first + i, at })))
  }

  hint(key: ThreadKey): void {
    this.#rings.get(key)?.hint()
  }

  subscribe(key: ThreadKey, { after, task }: Watching): Subscription {
    const ring = this.#rings.get(key) ?? new Ring(key)
    this.#rings.set(key, ring)
    const range = task && { ...task, last: Number.MAX_SAFE_INTEGER }
    const subscription = new Subscription({
      ring,
      after,
      ...(task && { task }),
      read: (from) => this.#store.events(key, { after: from, limit: pageEventsMax, ...(range && { task: range }) }),
      onMiss: () => this.#metrics.ringMissed(),
      onClose: (closed) => this.#closed(ring, closed),
    })
    this.#open.add(subscription)
    return subscription
  }

  close(): void {
    for (const subscription of this.#open) subscription.close()
  }

  #closed(ring: Ring, subscription: Subscription): void {
    this.#open.delete(subscription)
    if (ring.watcherCount === 0 && this.#rings.get(ring.key) === ring) this.#rings.delete(ring.key)
  }
}
