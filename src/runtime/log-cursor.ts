import { invariant } from '../core/errors.ts'
import { type EventRow, rowLength } from '../core/event-row.ts'
import type { EventPage, EventQuery } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import { batchEnd, batchLengthMax, LoggedEvent } from './log-entry.ts'
import { checkGone, checkPlace, filterOf, isLast, type LogFilter, passes } from './log-filter.ts'
import { type LogBatch, LogStretch } from './log-stretch.ts'
import type { Ring } from './ring.ts'
import type { StretchCache } from './stretch-cache.ts'

/** A task's range of the log; `last` is its terminal event, or as far as there is. */
export type TaskRange = NonNullable<EventQuery['task']>

/** Where a page begins, and what is on it. */
export type LogQuery = Omit<EventQuery, 'limit'>

/** Where a cursor gets pages from, and whom it tells. All cursors of a feed share one. */
export interface LogSource {
  readonly stretches: StretchCache
  read(ring: Ring, query: LogQuery): Promise<EventPage>
  missed(): void
  closed(cursor: LogCursor, ring: Ring): void
}

export interface LogStart {
  readonly after: number
  readonly task?: TaskRange
  readonly types?: ReadonlySet<string>
}

// Of a page of a mebibyte, what one batch leaves. The rest is read again, because readers that stall keep what they have.
const restLengthMax = 768 * 1024

const none: readonly LoggedEvent[] = []
const noRows: readonly EventRow[] = []

/**
 * A place in a thread's log, from which it is handed out in batches: replay, then live, without a seam.
 *
 * C1 After number N comes N + 1, or the next that matches, each once and in order.
 * C2 It keeps a position, not events: what it is behind is read from the shared ring, or from the store. Of a page that it
 *    read it keeps a few batches at most, less than a mebibyte in all.
 * C3 With a task it is over when the task's terminal event was handed out, which passes whatever the types are.
 * C4 Without a filter, cursors at the same place of the ring hand out the same array.
 * C5 When its thread is erased it hands out what it can still reach without a hole, and then ends; where that is not all,
 *    it fails with `offset_gone`.
 */
export class LogCursor {
  readonly #source: LogSource
  readonly #ring: Ring
  readonly #task: TaskRange | undefined
  readonly #filter: LogFilter | undefined
  #head = 0
  /** All that matches up to here was handed out, or is in `#rest` or `#rows`. */
  #after: number
  #rest = none
  #rows = noRows
  #isOver = false
  #isAsked = false
  #wake: (() => void) | undefined

  private constructor(source: LogSource, ring: Ring, { after, task, types }: LogStart) {
    this.#source = source
    this.#ring = ring
    this.#after = after
    this.#task = task
    this.#filter = filterOf(task?.id, types)
  }

  /** Rejects with `offset_ahead` or `offset_gone` if the log has no such place. */
  static async open(source: LogSource, ring: Ring, start: LogStart): Promise<LogCursor> {
    const cursor = new LogCursor(source, ring, start)
    // Before the first page is read, so that what is committed meanwhile is in the ring.
    ring.join()
    try {
      await cursor.#place()
      return cursor
    } catch (error) {
      cursor.close()
      throw error
    }
  }

  /** The thread's head when the cursor was opened. */
  get head(): number {
    return this.#head
  }

  /** Whether `next` can only answer undefined. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The next events, at least one; undefined if there will be none. Ask again when it has answered. */
  async next(): Promise<LogBatch<LoggedEvent> | undefined> {
    invariant(!this.#isAsked, 'a cursor is asked for one batch at a time')
    this.#isAsked = true
    try {
      while (!this.#isOver) {
        const batch = this.#atHand()
        if (batch) return batch
        if (!this.#isOver) await this.#more()
      }
      return undefined
    } catch (error) {
      // The store is closed after the feed: a read that fails because of that fails nobody.
      if (this.#isOver) return undefined
      this.close()
      throw error
    } finally {
      this.#isAsked = false
    }
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#rest = none
    this.#rows = noRows
    this.#ring.leave(this)
    this.wake()
    this.#source.closed(this, this.#ring)
  }

  /** For the ring. */
  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  async #place(): Promise<void> {
    const page = await this.#read()
    checkPlace(this.#after, page)
    this.#head = page.head
    this.#use(page)
  }

  /** The next events, if they are in memory. */
  #atHand(): LogBatch<LoggedEvent> | undefined {
    while (!this.#isOver) {
      const batch = this.#fromRows() ?? this.#fromRest() ?? this.#fromRing()
      if (!batch || batch instanceof LogStretch || batch.length > 0) return batch
    }
    return undefined
  }

  /** Resolves when there may be more: it is read from the store, or waited for. */
  #more(): Promise<void> {
    const ring = this.#ring
    if (ring.isEnded) return this.#end()
    if (ring.isCurrent && this.#after >= ring.head) return this.#changed()
    if (this.#after === ring.head) return ring.refresh((after) => this.#source.read(ring, { after }))
    return this.#readPage()
  }

  /** The thread was erased: whoever had all of it is through. */
  async #end(): Promise<void> {
    const { isCurrent, head } = this.#ring
    if (!isCurrent || this.#after < head) checkGone(this.#after, await this.#read())
    this.close()
  }

  async #readPage(): Promise<void> {
    this.#source.missed()
    // A page per turn: a store may answer within one, and a long replay would keep the event loop from everybody else.
    await nextTurn()
    if (this.#isOver) return
    const page = await this.#read()
    checkGone(this.#after, page)
    if (!this.#isOver) this.#use(page)
  }

  async #read(): Promise<EventPage & { readonly hintCount: number }> {
    const { hintCount } = this.#ring
    const after = this.#after
    // Whoever looks at none of the events is handed what the store keeps.
    const asked = this.#filter ? { after, ...(this.#task && { task: this.#task }) } : { after, asRows: true as const }
    const page = await this.#source.read(this.#ring, asked)
    return { ...page, hintCount }
  }

  #use(page: EventPage & { readonly hintCount: number }): void {
    const { events, rows = noRows, upTo, head, hintCount } = page
    const filter = this.#filter
    this.#rows = rows
    const matching = filter ? events.filter((event) => passes(filter, event)) : events
    const entries = matching.map((stored) => new LoggedEvent(this.#ring.key, stored))
    const end = batchEnd(entries, 0, restLengthMax)
    const isCut = end < entries.length
    this.#rest = isCut ? entries.slice(0, end) : entries
    this.#after = isCut ? (entries[end - 1]?.seq ?? upTo) : Math.max(this.#after, upTo)
    if (!isCut && upTo >= head) this.#ring.advance(head, hintCount)
  }

  #fromRows(): LogBatch<LoggedEvent> | undefined {
    const rows = this.#rows
    const [first] = rows
    if (!first) return undefined
    if (this.#ring.isEnded) {
      // As with the rest of a page of events.
      this.#after = first.first - 1
      this.#rows = noRows
      return none
    }
    const end = rowsEnd(rows)
    if (end < rows.length) {
      this.#rows = rows.slice(end)
      return this.#stretch(rows.slice(0, end), false)
    }
    this.#rows = noRows
    return this.#stretch(rows, this.#after >= this.#head)
  }

  #stretch(rows: readonly EventRow[], reachesHead: boolean): LogStretch {
    return new LogStretch(this.#ring, rows, this.#source.stretches, reachesHead)
  }

  #fromRest(): readonly LoggedEvent[] | undefined {
    const rest = this.#rest
    if (rest.length === 0) return undefined
    if (this.#ring.isEnded) {
      // What was erased is not handed out any more, unless the ring still has all of it.
      this.#after = (rest[0]?.seq ?? 1) - 1
      this.#rest = none
      return none
    }
    const end = batchEnd(rest, 0)
    this.#rest = end < rest.length ? rest.slice(end) : none
    return this.#given(end < rest.length ? rest.slice(0, end) : rest)
  }

  #fromRing(): readonly LoggedEvent[] | undefined {
    const shared = this.#ring.batchAfter(this.#after)
    if (!shared) return undefined
    this.#after = shared.at(-1)?.seq ?? this.#after
    const filter = this.#filter
    return this.#given(filter ? shared.filter((entry) => passes(filter, entry)) : shared)
  }

  /** The terminal event of its task is the last that passes. */
  #given(batch: readonly LoggedEvent[]): readonly LoggedEvent[] {
    const last = batch.at(-1)
    if (last && this.#filter && isLast(this.#filter, last)) this.close()
    return batch
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#ring.wait(this)
    })
  }
}

/** Where a batch of rows ends: after as much text as it may hold, and after one row at least. */
function rowsEnd(rows: readonly EventRow[]): number {
  let length = 0
  const end = rows.findIndex((row, index) => {
    length += rowLength(row)
    return length > batchLengthMax && index > 0
  })
  return end === -1 ? rows.length : end
}
