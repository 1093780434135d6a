import { type Event, type StoredEvent, toEvent } from '../core/event.ts'
import type { ThreadKey } from '../core/id.ts'

// What a watcher may be behind before it reads pages from the store instead.
const ringEventsMax = 4096
const ringBytesMax = 1024 * 1024

/** An event of the ring, parsed at most once however many watch. */
export interface RingEvent {
  readonly stored: StoredEvent
  event?: Event
}

/**
 * The last events of one thread, shared by all who watch it.
 *
 * R1 It holds a stretch without a hole; an event that does not follow the last one begins a new stretch.
 * R2 `head` is the highest number known; the stretch ends there, unless another node wrote what is not here. Until the
 *    head has been read, or after a hint that somebody else wrote, it is not known (`isCurrent`).
 */
export class Ring {
  readonly key: ThreadKey
  #events: RingEvent[] = []
  #start = 0
  #bytes = 0
  #head = 0
  #isCurrent = false
  readonly #watchers = new Set<() => void>()

  constructor(key: ThreadKey) {
    this.key = key
  }

  get head(): number {
    return this.#head
  }

  get isCurrent(): boolean {
    return this.#isCurrent
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  /** Events from `after + 1` on, or undefined if they are not here. */
  after(after: number): readonly RingEvent[] | undefined {
    const first = this.#events[this.#start]?.stored.seq
    if (first === undefined || after + 1 < first || after >= this.#head) return undefined
    return this.#events.slice(this.#start + (after + 1 - first))
  }

  append(events: readonly StoredEvent[]): void {
    const first = events[0]
    const last = events.at(-1)
    if (!first || !last || first.seq <= this.#head) return
    if (this.#events.at(-1)?.stored.seq !== first.seq - 1) this.#clear()
    for (const stored of events) {
      this.#events.push({ stored })
      this.#bytes += stored.data.length
    }
    this.#head = last.seq
    this.#trim()
    this.#tell()
  }

  /** The store had this head a moment ago, wherever its events were written. */
  advance(head: number): void {
    this.#isCurrent = true
    if (head <= this.#head) return
    this.#clear()
    this.#head = head
    this.#tell()
  }

  /** Somebody else may have written: watchers look into the store. */
  hint(): void {
    this.#isCurrent = false
    this.#tell()
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  eventOf(entry: RingEvent): Event {
    entry.event ??= toEvent(this.key, entry.stored)
    return entry.event
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }

  #clear(): void {
    this.#events = []
    this.#start = 0
    this.#bytes = 0
  }

  #trim(): void {
    while (this.#events.length - this.#start > ringEventsMax || this.#bytes > ringBytesMax) {
      this.#bytes -= this.#events[this.#start]?.stored.data.length ?? 0
      this.#start += 1
    }
    // The front is cut off now and then, not at every event, because that copies the rest.
    if (this.#start <= ringEventsMax) return
    this.#events = this.#events.slice(this.#start)
    this.#start = 0
  }
}
