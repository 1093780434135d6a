import type { ThreadKey } from '../core/id.ts'
import type { EventPage } from '../stores/store.ts'
import { batchEnd, LoggedEvent } from './log-entry.ts'

// What a watcher may be behind before it reads pages from the store instead.
const ringEventsMax = 4096
const ringLengthMax = 1024 * 1024
// Batches kept for others who come to the same place. Nearly all are at the head; a few are a flush or two behind.
const batchesMax = 4

export interface Watcher {
  /** Something has changed since it began to wait. */
  wake(): void
}

/**
 * The last events of one thread, shared by all who watch it.
 *
 * R1 It holds a stretch without a hole; an event that does not follow the last one begins a new stretch.
 * R2 `head` is the highest number known; the stretch ends there, unless another node wrote what is not here. Until the
 *    head has been read, or after a hint that somebody else wrote, it is not known (`isCurrent`). A read that was begun
 *    before a hint says nothing about it.
 * R3 Whoever asks for the same place before something new comes gets the same array, so that it is encoded once for all.
 * R4 A watcher that waits is woken once, however much is appended until it looks.
 * R5 Once ended, nothing is appended: who is at the head is through.
 * R6 What all who watch have been given is let go: whoever comes later begins with a page from the store. Kept for longer, each
 *    event would outlive several collections of garbage, and those would take long.
 */
export class Ring {
  readonly key: ThreadKey
  readonly #entries: LoggedEvent[] = []
  #start = 0
  #length = 0
  #head = 0
  #isCurrent = false
  #isEnded = false
  /** The highest head that the log is known to have had with events in it. */
  #fullHead = 0
  #hintCount = 0
  readonly #batches: { readonly after: number; readonly batch: readonly LoggedEvent[] }[] = []
  #watcherCount = 0
  readonly #waiting: Watcher[] = []
  #refreshing: Promise<void> | undefined

  constructor(key: ThreadKey) {
    this.key = key
  }

  get head(): number {
    return this.#head
  }

  get isCurrent(): boolean {
    return this.#isCurrent
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get watcherCount(): number {
    return this.#watcherCount
  }

  /** How often somebody else may have written. To be looked at before a read, and given to `advance` after it. */
  get hintCount(): number {
    return this.#hintCount
  }

  /**
   * Whether a page shows that the thread was emptied while it was watched: a log never loses its newest event unless all goes. A page
   * that was read before there was anything in the log shows nothing.
   */
  isGone({ first, head }: EventPage): boolean {
    if (first > head) return this.#fullHead > 0 && head >= this.#fullHead
    this.#fullHead = Math.max(this.#fullHead, head)
    return false
  }

  /** Events from `after + 1` on, as many as a batch holds, or undefined if they are not here. */
  batchAfter(after: number): readonly LoggedEvent[] | undefined {
    const first = this.#entries[this.#start]?.seq
    if (first === undefined || after + 1 < first || after >= this.#head) return undefined
    const known = this.#batches.find((each) => each.after === after)
    if (known) return known.batch
    const from = this.#start + (after + 1 - first)
    const batch = this.#entries.slice(from, batchEnd(this.#entries, from))
    if (this.#batches.length === batchesMax) letGoOfMade(this.#batches.shift()?.batch ?? [])
    this.#batches.push({ after, batch })
    return batch
  }

  append(entries: readonly LoggedEvent[]): void {
    const first = entries[0]
    const last = entries.at(-1)
    if (this.#isEnded || !first || !last || first.seq <= this.#head) return
    this.#fullHead = Math.max(this.#fullHead, last.seq)
    if (this.#entries.at(-1)?.seq !== first.seq - 1) this.#clear()
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#length += entry.length
    }
    this.#head = last.seq
    this.#dropBatches()
    this.#trim()
    this.#tell()
  }

  /** The store had this head when a read was begun, wherever its events were written. */
  advance(head: number, hintCount = this.#hintCount): void {
    if (hintCount === this.#hintCount) this.#isCurrent = true
    if (head <= this.#head) return
    this.#clear()
    this.#head = head
    this.#tell()
  }

  /** Reads what somebody else wrote, once for all who are at the head. */
  refresh(read: (after: number) => Promise<EventPage>): Promise<void> {
    this.#refreshing ??= this.#refresh(read).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Somebody else may have written: watchers look into the store. */
  hint(): void {
    this.#isCurrent = false
    this.#hintCount += 1
    this.#tell()
  }

  /** Somebody else wrote this. Where it does not follow on all there is, watchers look into the store. */
  follow(entries: readonly LoggedEvent[]): void {
    const last = entries.at(-1)
    if (!last || last.seq <= this.#head) return
    if (this.#isCurrent && entries[0]?.seq === this.#head + 1) this.append(entries)
    else this.hint()
  }

  /** The thread was erased: nobody waits for more. */
  end(): void {
    this.#isEnded = true
    this.#tell()
  }

  join(): void {
    this.#watcherCount += 1
  }

  leave(watcher: Watcher): void {
    this.#watcherCount -= 1
    const place = this.#waiting.indexOf(watcher)
    if (place !== -1) {
      // Who is woken first does not matter, and thousands may leave at once.
      const last = this.#waiting.pop()
      if (last && last !== watcher) this.#waiting[place] = last
    }
    this.#letGo()
  }

  wait(watcher: Watcher): void {
    this.#waiting.push(watcher)
    this.#letGo()
  }

  async #refresh(read: (after: number) => Promise<EventPage>): Promise<void> {
    const after = this.#head
    const hints = this.#hintCount
    const page = await read(after)
    // If the log no longer reaches back to it, those who are there are told when they look for themselves.
    const isWhole = page.first <= after + 1
    if (isWhole) this.append(page.events.map((stored) => new LoggedEvent(this.key, stored)))
    if (!isWhole || page.upTo >= page.head) this.advance(page.head, hints)
  }

  #tell(): void {
    for (const watcher of this.#waiting) watcher.wake()
    this.#waiting.length = 0
  }

  /** R6. */
  #letGo(): void {
    if (this.#waiting.length === this.#watcherCount) this.#clear()
  }

  #clear(): void {
    this.#entries.length = 0
    this.#start = 0
    this.#length = 0
    this.#dropBatches()
  }

  #dropBatches(): void {
    for (const { batch } of this.#batches) letGoOfMade(batch)
    this.#batches.length = 0
  }

  #trim(): void {
    while (this.#entries.length - this.#start > ringEventsMax || this.#length > ringLengthMax) {
      this.#length -= this.#entries[this.#start]?.length ?? 0
      this.#start += 1
    }
    // The front is cut off when it is the larger part: not at every event, because that copies the rest, and not much
    // later, because large events would be kept for as long.
    if (this.#start * 2 <= this.#entries.length) return
    this.#entries.splice(0, this.#start)
    this.#start = 0
  }
}

/** What was made of a batch goes with it: it may take many times what the events do. */
function letGoOfMade(batch: readonly LoggedEvent[]): void {
  for (const entry of batch) entry.made = undefined
}
