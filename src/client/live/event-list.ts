import { isHoldfastError } from '../../core/errors.ts'
import { type EventWindow, emptyWindow, readTo, withEvents } from './event-window.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'

/** Which events of a thread. */
export interface EventFilter {
  /** Only those of a task; the list is whole when that has ended. */
  readonly task?: string | undefined
  /** Only those after this number; all that are kept unless given. */
  readonly after?: number | undefined
  readonly types?: readonly string[] | undefined
}

export interface EventListValue extends Loadable, EventWindow {}

export const loadingEvents: EventListValue = { ...emptyWindow(0, 0), isLoading: true }

// As many as a log view scrolls through smoothly. The oldest leave, and are counted.
const keptMax = 10_000
const pageCount = 1000

/** The log of a thread, or of a task in it, in a window that moves with its end. */
export class EventList {
  readonly live: LiveModel<EventListValue>
  readonly #parts: LiveParts
  readonly #thread: string
  readonly #filter: EventFilter

  constructor(parts: LiveParts, thread: string, filter: EventFilter, onStopped: () => void) {
    this.#parts = parts
    this.#thread = thread
    this.#filter = filter
    this.live = new LiveModel({
      ...parts,
      initial: loadingEvents,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  /** By pages up to the end, then as it grows; and all of it again where the log has become another one. */
  async #follow(following: Following<EventListValue>): Promise<void> {
    while (!following.signal.aborted) {
      const window = await this.#read(following)
      if (!(await this.#attach(following, window))) return
    }
  }

  async #read(following: Following<EventListValue>): Promise<EventWindow> {
    const { signal } = following
    let after = await this.#start(signal)
    let window = emptyWindow(after, after - (this.#filter.after ?? 0))
    for (;;) {
      const page = await this.#page(after, pageCount, signal)
      window = readTo(withEvents(window, page.events, keptMax), page.next)
      after = page.next
      const isLoading = page.next < page.head
      following.set({ ...window, isLoading })
      if (!isLoading) return window
    }
  }

  /** Where to begin: after what is no longer kept, and after what would be let go again at once. */
  async #start(signal: AbortSignal): Promise<number> {
    const { after = 0, task, types } = this.#filter
    try {
      const { head } = await this.#page(after, 1, signal)
      return task === undefined && types === undefined ? Math.max(after, head - keptMax) : after
    } catch (error) {
      if (!isHoldfastError(error, 'offset_gone')) throw error
      return Number(error.facts['first']) - 1
    }
  }

  #page(after: number, limit: number, signal: AbortSignal) {
    return this.#parts.client.events(this.#thread, { ...this.#wanted(), after, limit, signal })
  }

  /** True if it has to be read again from the beginning. */
  async #attach(following: Following<EventListValue>, read: EventWindow): Promise<boolean> {
    const { signal } = following
    let window = read
    const log = this.#parts.client.thread(this.#thread).attach({ ...this.#wanted(), after: read.head, signal })
    for await (const item of log) {
      if (item.type === 'notice' || item.type === 'snapshot') return true
      window = withEvents(window, [item], keptMax)
      following.set({ ...window, isLoading: false })
    }
    return false
  }

  #wanted(): { task?: string; types?: readonly string[] } {
    const { task, types } = this.#filter
    return { ...(task !== undefined && { task }), ...(types !== undefined && { types }) }
  }
}
