import type { StoredEvent } from '../core/event.ts'
import type { ThreadKey } from '../core/id.ts'
import type { EventPage, Store } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import type { LogStart } from './log-cursor.ts'
import { type LogEntry, LoggedEvent } from './log-entry.ts'
import { checkGone, checkPlace, filterOf, type LogFilter, passes } from './log-filter.ts'

/** Some of a log. */
export interface LogPage {
  readonly entries: readonly LogEntry[]
  readonly head: number
  /** What the next page begins after. If it is `head`, there is no more. */
  readonly next: number
}

// A page holds about this much text, however large its events are, and at least one event.
const pageLengthMax = 1024 * 1024
// A search for rare events gives up here, with a page that may be empty: the caller goes on from `next`.
const looksMax = 64
const lookEventsMax = 1000

/** Reads on until the page is full or the log is at its end, because a look may find little that matches. */
export async function readLogPage(store: Store, key: ThreadKey, start: LogStart, limit: number): Promise<LogPage> {
  const { after, task, types } = start
  const found = new Found(key, filterOf(task?.id, types) ?? {}, limit)
  let from = after
  for (let lookCount = 1; ; lookCount++) {
    const lookLimit = types ? lookEventsMax : limit - found.entries.length
    const page: EventPage = await store.events(key, { after: from, limit: lookLimit, ...(task && { task }) })
    if (lookCount === 1) checkPlace(after, page)
    else checkGone(from, page)
    const { entries } = found
    const { head } = page
    const fullAfter = found.add(page.events)
    if (fullAfter !== undefined) return { entries, head, next: fullAfter }
    from = Math.max(from, page.upTo)
    if (from >= head || (task && from >= task.last)) return { entries, head, next: head }
    if (found.isFull || lookCount === looksMax) return { entries, head, next: from }
    await nextTurn()
  }
}

class Found {
  readonly entries: LoggedEvent[] = []
  readonly #key: ThreadKey
  readonly #filter: LogFilter
  readonly #limit: number
  #length = 0

  constructor(key: ThreadKey, filter: LogFilter, limit: number) {
    this.#key = key
    this.#filter = filter
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.entries.length >= this.#limit || this.#length >= pageLengthMax
  }

  /** Takes what matches. If something did not fit any more, says after which number to go on. */
  add(events: readonly StoredEvent[]): number | undefined {
    for (const event of events) {
      if (!passes(this.#filter, event)) continue
      if (this.isFull) return event.seq - 1
      const entry = new LoggedEvent(this.#key, event)
      this.entries.push(entry)
      this.#length += entry.length
    }
    return undefined
  }
}
