import type { InboxItem } from './inbox-item.ts'

/** Why an item did not get in. */
export type Rejection = 'closed' | 'full'

/** How much an inbox holds, and who is told of what it no longer takes. */
export interface InboxOptions {
  /** How many items may wait to be taken; 10,000 if not given. */
  readonly capacity?: number
  /** Gets every item that did not get in, because the inbox is closed, or full. */
  readonly onClosed?: (item: InboxItem, why: Rejection) => void | Promise<void>
  /** Told when `onClosed` throws or rejects. */
  readonly onError?: (error: unknown, item: InboxItem) => void
}

// An owner that never drains would otherwise hold every event of every task in memory.
const capacityDefault = 10_000

/** An inbox of this process, for the owner of tasks. It is not durable: what is in it ends with the process. */
export function createInbox(options: InboxOptions = {}): Inbox {
  return new Inbox(options)
}

type Next = IteratorResult<InboxItem, undefined>

/**
 * A first-in, first-out queue between tasks and their owner.
 *
 * I1 An item that `send` accepted is taken exactly once, by `drain`, `next` or a `for await` loop.
 * I2 An item that it refused goes to `onClosed`; nothing is dropped in silence.
 * I3 No callback of the owner reaches the sender: what one throws ends in `onError`.
 */
export class Inbox implements AsyncIterable<InboxItem> {
  readonly #capacity: number
  readonly #onClosed: InboxOptions['onClosed']
  readonly #onError: InboxOptions['onError']
  #items: InboxItem[] = []
  #waiting: ((next: Next) => void)[] = []
  #isClosed = false

  constructor(options: InboxOptions) {
    this.#capacity = options.capacity ?? capacityDefault
    this.#onClosed = options.onClosed
    this.#onError = options.onError
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** How many items wait to be taken. */
  get size(): number {
    return this.#items.length
  }

  /** Puts an item in, or hands it to `onClosed` and says false. */
  send(item: InboxItem): boolean {
    if (this.#isClosed) return this.#reject(item, 'closed')
    const resolve = this.#waiting.shift()
    if (resolve) {
      resolve({ done: false, value: item })
      return true
    }
    if (this.#items.length >= this.#capacity) return this.#reject(item, 'full')
    this.#items.push(item)
    return true
  }

  /** Takes all that has gathered, oldest first. */
  drain(): InboxItem[] {
    const items = this.#items
    this.#items = []
    return items
  }

  /** Takes the oldest item, or waits for one. Done once the inbox is closed and empty. */
  next(): Promise<Next> {
    const item = this.#items.shift()
    if (item) return Promise.resolve({ done: false, value: item })
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** A loop that is left early leaves the inbox open; what it has not taken stays. */
  [Symbol.asyncIterator](): AsyncIterator<InboxItem, undefined> {
    return { next: () => this.next() }
  }

  /** Accepts nothing more. What has gathered can still be taken. */
  close(): void {
    this.#isClosed = true
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve({ done: true, value: undefined })
  }

  #reject(item: InboxItem, why: Rejection): false {
    try {
      void Promise.resolve(this.#onClosed?.(item, why)).catch((error: unknown) => this.#report(error, item))
    } catch (error) {
      this.#report(error, item)
    }
    return false
  }

  #report(error: unknown, item: InboxItem): void {
    try {
      this.#onError?.(error, item)
    } catch {
      // There is nobody left to tell, and the task that sent the item must not pay for it.
    }
  }
}
