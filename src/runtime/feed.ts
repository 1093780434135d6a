import { type EventDraft, storedEvent } from '../core/event.ts'
import { decodeRow, type EventRow } from '../core/event-row.ts'
import { type Principal, principalOf, type ThreadKey } from '../core/id.ts'
import type { EventPage, Store } from '../stores/store.ts'
import type { Clock, Timer } from './clock.ts'
import { Firehose } from './firehose.ts'
import { FirehosePoll } from './firehose-poll.ts'
import { LogCursor, type LogQuery, type LogSource, type LogStart } from './log-cursor.ts'
import { LoggedEvent } from './log-entry.ts'
import type { Metrics } from './metrics.ts'
import { Ring } from './ring.ts'
import { StretchCache } from './stretch-cache.ts'

// Large enough that a replay is mostly reading, small enough that it does not hold up the event loop.
const pageEventsMax = 1000
// Whoever erases many threads in a row makes nobody read everything again for each of them.
const giveWayMs = 500

/** Hands committed events to whoever watches. A thread that nobody watches costs nothing here. */
export class Feed implements LogSource {
  readonly #store: Store
  readonly #metrics: Metrics
  readonly #clock: Clock
  readonly stretches: StretchCache
  readonly #rings = new Map<ThreadKey, Ring>()
  readonly #cursors = new Set<LogCursor>()
  readonly #firehoses = new Map<Principal, Set<Firehose>>()
  readonly #firehosePoll: FirehosePoll
  /** Principals whose firehoses end in a moment, because a thread of theirs was erased. */
  readonly #givingWay = new Map<Principal, Timer>()
  #isClosed = false

  constructor(store: Store, metrics: Metrics, clock: Clock) {
    this.#store = store
    this.#metrics = metrics
    this.#clock = clock
    this.stretches = new StretchCache(clock)
    this.#firehosePoll = new FirehosePoll(store)
  }

  get streamCount(): number {
    let count = this.#cursors.size
    for (const firehoses of this.#firehoses.values()) count += firehoses.size
    return count
  }

  watchersOf(key: ThreadKey): number {
    return this.#rings.get(key)?.watcherCount ?? 0
  }

  /** Called after the commit, in the order of the commits. */
  publish(key: ThreadKey, first: number, at: number, drafts: readonly EventDraft[]): void {
    const ring = this.#rings.get(key)
    const firehoses = this.#firehosesOf(key)
    if ((!ring && !firehoses) || drafts.length === 0) return
    const entries = drafts.map((draft, i) => new LoggedEvent(key, storedEvent(draft, first + i, at)))
    ring?.append(entries)
    for (const firehose of firehoses ?? []) firehose.take(key, entries)
  }

  /** Another node may have written to the thread. */
  hint(key: ThreadKey): void {
    this.#rings.get(key)?.hint()
    for (const firehose of this.#firehosesOf(key) ?? []) firehose.hint(key)
  }

  /** Another node has committed this to the thread, and it may follow on what is known here. */
  grown(key: ThreadKey, row: EventRow): void {
    const ring = this.#rings.get(key)
    const firehoses = this.#firehosesOf(key)
    if (!ring && !firehoses) return
    const entries = decodeRow(row).map((stored) => new LoggedEvent(key, stored))
    ring?.follow(entries)
    for (const firehose of firehoses ?? []) firehose.follow(key, entries)
  }

  /** The threads that are watched. */
  watched(): Iterable<ThreadKey> {
    return this.#rings.keys()
  }

  /** The highest number of a watched thread that is known here. */
  headOf(key: ThreadKey): number {
    return this.#rings.get(key)?.head ?? 0
  }

  /** The thread has come this far, whoever wrote to it. `isChanged` if more than its log is another: an erase leaves its head. */
  moved(key: ThreadKey, head: number, isChanged = false): void {
    const ring = this.#rings.get(key)
    if (ring && (ring.head < head || (isChanged && ring.head === head))) ring.hint()
  }

  /** Finds what other nodes wrote to threads of principals whose firehoses are open. */
  async pollFirehoses(): Promise<void> {
    for (const [principal, firehoses] of this.#firehoses) await this.#firehosePoll.poll(principal, firehoses)
  }

  async open(key: ThreadKey, start: LogStart): Promise<LogCursor> {
    const ring = this.#rings.get(key) ?? new Ring(key)
    this.#rings.set(key, ring)
    const cursor = await LogCursor.open(this, ring, start)
    if (this.#isClosed) cursor.close()
    if (!cursor.isOver) this.#cursors.add(cursor)
    return cursor
  }

  openFirehose(principal: Principal, types: ReadonlySet<string> | undefined): Firehose {
    const firehoses = this.#firehoses.get(principal) ?? new Set()
    const firehose = new Firehose({
      store: this.#store,
      ...(types && { types }),
      onGone: () => this.#giveWay(principal),
      onClose: () => {
        firehoses.delete(firehose)
        if (firehoses.size > 0 || this.#firehoses.get(principal) !== firehoses) return
        this.#firehoses.delete(principal)
        this.#firehosePoll.forget(principal)
      },
    })
    this.#firehoses.set(principal, firehoses.add(firehose))
    if (this.#isClosed) firehose.close()
    return firehose
  }

  /**
   * The thread was erased, or is no longer as long as it was: its watchers see what was published until now, and then it is over
   * for them.
   */
  closeThread(key: ThreadKey): void {
    this.endWatchers(key)
    this.#giveWay(principalOf(key))
  }

  /** Ends who watches the thread itself. */
  endWatchers(key: ThreadKey): void {
    this.stretches.forget(key)
    this.#rings.get(key)?.end()
    // Whoever comes from now on sees what is written from now on.
    this.#rings.delete(key)
  }

  close(): void {
    this.#isClosed = true
    this.stretches.close()
    for (const timer of this.#givingWay.values()) timer.cancel()
    for (const cursor of this.#cursors) cursor.close()
    for (const firehoses of this.#firehoses.values()) for (const firehose of firehoses) firehose.close()
  }

  async read(ring: Ring, query: LogQuery): Promise<EventPage> {
    const { key, head } = ring
    const page = await this.#store.events(key, { ...query, limit: pageEventsMax })
    // Erased by another node; what this one erases is told by its commit. Or the store was put back to an earlier state.
    const isGone = ring.isGone(page) || page.head < head
    if (isGone && this.#rings.get(key) === ring) this.closeThread(key)
    return page
  }

  missed(): void {
    this.#metrics.ringMissed()
  }

  closed(cursor: LogCursor, ring: Ring): void {
    this.#cursors.delete(cursor)
    if (ring.watcherCount === 0 && this.#rings.get(ring.key) === ring) this.#rings.delete(ring.key)
  }

  /** No event tells who watches all threads that one was erased, so they are made to come back and to read again. */
  #giveWay(principal: Principal): void {
    if (this.#isClosed || !this.#firehoses.has(principal) || this.#givingWay.has(principal)) return
    const timer = this.#clock.setTimer(giveWayMs, () => {
      this.#givingWay.delete(principal)
      for (const firehose of this.#firehoses.get(principal) ?? []) firehose.end()
    })
    this.#givingWay.set(principal, timer)
  }

  #firehosesOf(key: ThreadKey): Set<Firehose> | undefined {
    return this.#firehoses.size === 0 ? undefined : this.#firehoses.get(principalOf(key))
  }
}
