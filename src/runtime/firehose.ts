import { invariant } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import type { EventPage, Store } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import { batchEnd, type LogEntry, LoggedEvent } from './log-entry.ts'
import { type LogFilter, passes } from './log-filter.ts'

export interface FirehoseParts {
  readonly store: Store
  readonly types?: ReadonlySet<string>
  /** A thread was found to have been erased, by another node, or to be no longer as long as it was. */
  onGone(): void
  onClose(): void
}

// What a reader may have waiting before the rest is left in the store.
const waitingLengthMax = 1024 * 1024
// A place in a thread takes some hundred bytes; this many take a megabyte or two.
const threadsMax = 10_000
const pageEventsMax = 1000

/**
 * The live events of all threads of a principal.
 *
 * F1 Per thread, from the first event that is handed out on, each number that matches once and in order, without a hole.
 * F2 What is published is taken as it comes while the reader keeps up. Where it does not, or where another node wrote what does
 *    not follow, the thread is behind: it is read from the store, from its own place on, when the reader has taken what waits.
 * F3 It keeps at most `waitingLengthMax` of text beside one page of the store, and `threadsMax` places. The thread without
 *    news for the longest time is forgotten, and begins anew with its next event, unless it is behind; a reader that is
 *    behind in that many is ended.
 * F4 A reader so far behind that what it was to be given next is no longer kept is ended, because there would be a hole.
 * F5 Where a thread was erased, or ends before what was given because the store was put back to an earlier state, it is told to end:
 *    no event says so, and whoever comes back reads again what there is. What waits is given before.
 */
export class Firehose {
  readonly #parts: FirehoseParts
  readonly #filter: LogFilter
  /** By the store's clock: of a thread that only other nodes wrote to, what is older is no news. */
  #since: number
  #waiting: LoggedEvent[] = []
  #waitingLength = 0
  /** Up to where a thread was handed out or waits; the one with the newest event last. */
  readonly #places = new Map<ThreadKey, Place>()
  readonly #behind = new Set<ThreadKey>()
  #reading: ThreadKey | undefined
  #isEnding = false
  #isClosed = false
  #isAsked = false
  #wake: (() => void) | undefined

  constructor(parts: FirehoseParts) {
    this.#parts = parts
    this.#filter = parts.types ? { types: parts.types } : {}
    this.#since = parts.store.clock.now()
  }

  /** Consecutive events of one thread, just committed by this node. */
  take(key: ThreadKey, entries: readonly LoggedEvent[]): void {
    const [first, last] = [entries[0], entries.at(-1)]
    if (this.#isEnding || this.#isClosed || !first || !last) return
    const place = this.#places.get(key)
    if (place && isGivenAnew(first, place)) return this.#parts.onGone()
    const isBehind = this.#behind.has(key) || this.#reading === key
    if (!isBehind && place && last.seq <= place.seq) return
    const matching = entries.filter((entry) => passes(this.#filter, entry))
    const hasRoom = this.#waitingLength + lengthOf(matching) <= waitingLengthMax
    if (isBehind || !hasRoom || (place && first.seq !== place.seq + 1)) {
      if (!place && !isBehind) this.#put(key, { seq: first.seq - 1, at: first.at, isOld: false })
      return this.#fallBehind(key)
    }
    this.#put(key, { seq: last.seq, at: last.at, isOld: false })
    this.#wait(matching)
  }

  /** Consecutive events of one thread, committed by another node. Where they do not follow on what was given, they are read. */
  follow(key: ThreadKey, entries: readonly LoggedEvent[]): void {
    const place = this.#places.get(key)
    const [first, last] = [entries[0], entries.at(-1)]
    if (!first || !last) return
    if (place && !place.isOld && first.seq <= place.seq + 1) this.take(key, entries)
    else if (!place || last.seq > place.seq) this.hint(key)
  }

  /** Another node may have written to the thread. */
  hint(key: ThreadKey): void {
    if (!this.#isEnding && !this.#isClosed) this.#fallBehind(key)
  }

  /** The thread has come this far, whoever wrote to it. */
  moved(key: ThreadKey, head: number, at: number): void {
    const place = this.#places.get(key)
    // Where it is further here, this node may have written meanwhile, or the store was put back: a read tells (F5).
    if (place ? head !== place.seq : at >= this.#since) this.hint(key)
  }

  /** The next events, at least one; undefined if there will be none. Ask again when it has answered. */
  async next(): Promise<readonly LogEntry[] | undefined> {
    invariant(!this.#isAsked, 'a firehose is asked for one batch at a time')
    this.#isAsked = true
    try {
      while (!this.#isClosed) {
        if (this.#waiting.length > 0) return this.#batch()
        if (this.#isEnding) break
        const [behind] = this.#behind
        await (behind === undefined ? this.#changed() : this.#catchUp(behind))
      }
      this.close()
      return undefined
    } catch (error) {
      // The store is closed after the feed: a read that fails because of that fails nobody.
      if (this.#isClosed) return undefined
      this.close()
      throw error
    } finally {
      this.#isAsked = false
    }
  }

  /** Takes nothing more, and is over when what waits was given. */
  end(): void {
    this.#isEnding = true
    this.#tell()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#waiting = []
    this.#places.clear()
    this.#behind.clear()
    this.#tell()
    this.#parts.onClose()
  }

  #batch(): readonly LogEntry[] {
    const all = this.#waiting
    const end = batchEnd(all, 0)
    const batch = end < all.length ? all.slice(0, end) : all
    this.#waiting = end < all.length ? all.slice(end) : []
    this.#waitingLength -= lengthOf(batch)
    return batch
  }

  #wait(entries: readonly LoggedEvent[]): void {
    if (entries.length === 0) return
    for (const entry of entries) this.#waiting.push(entry)
    this.#waitingLength += lengthOf(entries)
    this.#tell()
  }

  #fallBehind(key: ThreadKey): void {
    this.#behind.add(key)
    if (this.#behind.size > threadsMax) this.close()
    this.#tell()
  }

  /** Reads a page of a thread. What comes for it meanwhile leaves it behind again, to be read after this page. */
  async #catchUp(key: ThreadKey): Promise<void> {
    // A page per turn: a store may answer within one, and other work would have to wait for all of them.
    await nextTurn()
    this.#behind.delete(key)
    this.#reading = key
    try {
      const place = this.#places.get(key) ?? (await this.#start(key))
      const page = await this.#parts.store.events(key, { after: place.seq, limit: pageEventsMax })
      if (!this.#isClosed) this.#use(key, place, page)
    } finally {
      this.#reading = undefined
    }
  }

  /** Nothing of the thread was handed out yet: what is new is among its last events. */
  async #start(key: ThreadKey): Promise<Place> {
    const { head } = await this.#parts.store.events(key, { after: Number.MAX_SAFE_INTEGER, limit: 1 })
    return { seq: Math.max(0, head - pageEventsMax), at: 0, isOld: true }
  }

  #use(key: ThreadKey, place: Place, { events, upTo, head, first }: EventPage): void {
    // F4
    if (!place.isOld && first > place.seq + 1) return this.close()
    // A log never loses its newest event unless all goes.
    if ((head > 0 && first > head) || head < place.seq) this.#parts.onGone()
    const news = place.isOld ? events.filter(({ at }) => at >= this.#since) : events
    const isAtHead = upTo >= head
    const isOld = place.isOld && news.length === 0 && !isAtHead
    this.#put(key, { seq: Math.max(place.seq, upTo), at: events.at(-1)?.at ?? place.at, isOld })
    if (!isAtHead) this.#behind.add(key)
    const entries = news.filter((event) => passes(this.#filter, event)).map((event) => new LoggedEvent(key, event))
    this.#wait(entries)
  }

  #put(key: ThreadKey, place: Place): void {
    this.#places.delete(key)
    this.#places.set(key, place)
    if (this.#places.size <= threadsMax) return
    for (const [other, { at }] of this.#places) {
      if (this.#behind.has(other) || this.#reading === other) continue
      this.#places.delete(other)
      // If another node goes on with it, what was handed out is not news again.
      this.#since = Math.max(this.#since, at + 1)
      return
    }
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #tell(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

interface Place {
  readonly seq: number
  readonly at: number
  /** What follows may have been written before the firehose was opened. */
  readonly isOld: boolean
}

/** No instant of a log goes back (P4): what is later and has a number that was given before is of a store that was put back (F5). */
function isGivenAnew({ seq, at }: LoggedEvent, place: Place): boolean {
  return !place.isOld && seq <= place.seq && at > place.at
}

function lengthOf(entries: readonly LoggedEvent[]): number {
  return entries.reduce((sum, entry) => sum + entry.length, 0)
}
