import type { ThreadLine } from '../calls.ts'
import type { ThreadEvent } from '../thread-event.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'
import { Reading } from './reading.ts'
import { threadsAfter, withOlderThreads } from './thread-rows.ts'
import { whileWatching } from './while-watching.ts'

export interface ThreadListValue extends Loadable {
  /** The one in which something happened last is first. */
  readonly threads: readonly ThreadLine[]
  readonly hasMore: boolean
}

export const loadingThreads: ThreadListValue = { threads: [], hasMore: false, isLoading: true }

// What a list that nobody asked more of may grow to by itself.
const grownCountMax = 1000

/**
 * The threads of the principal, by pages and by what happens in them.
 *
 * H1 What happens while a page is read is folded again after it, because the page may be older.
 * H2 It keeps as many rows as were asked for, or `grownCountMax`; what goes beyond that leaves at the old end.
 */
export class ThreadList {
  readonly live: LiveModel<ThreadListValue>
  readonly #parts: LiveParts
  readonly #reading: Reading
  /** Of the page after the last row. Without one, though there is more, that page has to be found from the newest on. */
  #cursor: string | undefined
  #askedCount: number
  /** While something is read: the last that happened in each thread. */
  #held: Map<string, ThreadEvent> | undefined
  #more: Promise<void> | undefined
  #following: Following<ThreadListValue> | undefined

  constructor(parts: LiveParts, onStopped: () => void) {
    this.#parts = parts
    this.#reading = new Reading(parts)
    this.#askedCount = parts.pageCount
    this.live = new LiveModel({
      ...parts,
      initial: loadingThreads,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  /** Resolves when the next page, or why it cannot be read, is published. */
  loadMore(): Promise<void> {
    const following = this.#following
    if (!following?.value.hasMore) return Promise.resolve()
    this.#more ??= this.#read(following, following.value.threads.length + this.#parts.pageCount)
      .catch((error: unknown) => following.fail(error))
      .then(() => new Promise<void>(this.#parts.schedule))
      .finally(() => {
        this.#more = undefined
      })
    return this.#more
  }

  #follow(following: Following<ThreadListValue>): Promise<void> {
    this.#following = following
    return whileWatching(this.#parts.watch, following.signal, {
      opened: () => {
        this.#cursor = undefined
        void this.#reading.run(following, () => this.#read(following, this.#askedCount))
      },
      event: (event) => this.#take(following, event),
    })
  }

  /**
   * Reads until there are so many, or a page brings nothing new: on from the cursor if there is one, else from the newest. A
   * later reading makes it void.
   */
  async #read(following: Following<ThreadListValue>, count: number): Promise<void> {
    const held = new Map<string, ThreadEvent>()
    this.#held = held
    this.#askedCount = count
    let cursor = this.#cursor
    let threads = cursor === undefined ? [] : following.value.threads
    let before: number
    try {
      do {
        before = threads.length
        const page = await this.#page(following, cursor)
        if (this.#held !== held) return
        threads = withOlderThreads(threads, page.threads)
        cursor = page.cursor
      } while (cursor !== undefined && threads.length > before && threads.length < count)
      this.#cursor = cursor
    } finally {
      if (this.#held === held) this.#held = undefined
    }
    threads = [...held.values()].reduce(threadsAfter, threads)
    following.set({ threads, hasMore: cursor !== undefined, isLoading: false })
  }

  #page({ signal }: Following<ThreadListValue>, cursor: string | undefined) {
    return this.#parts.client.threads({ limit: this.#parts.pageCount, signal, ...(cursor !== undefined && { cursor }) })
  }

  #take(following: Following<ThreadListValue>, event: ThreadEvent): void {
    this.#held?.set(event.thread, event)
    const { value } = following
    if (value.isLoading) return
    const threads = threadsAfter(value.threads, event)
    if (threads === value.threads) return
    const kept = threads.slice(0, Math.max(this.#askedCount, grownCountMax))
    const isCut = kept.length < threads.length
    if (isCut) this.#cursor = undefined
    following.set({ ...value, threads: kept, hasMore: value.hasMore || isCut })
  }
}
