import type { Event } from '../core/event.ts'
import type { Subscription } from './subscription.ts'

type Next = IteratorResult<Event, undefined>

const done: Next = { done: true, value: undefined }

/** A subscription that is opened by its first `next`: what is wrong with it is told there. */
export class OpeningSubscription implements AsyncIterableIterator<Event, undefined> {
  readonly #open: () => Promise<Subscription | undefined>
  #opening: Promise<void> | undefined
  #subscription: Subscription | undefined
  #isClosed = false

  constructor(open: () => Promise<Subscription | undefined>) {
    this.#open = open
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Next> {
    if (this.#subscription) return this.#subscription.next()
    if (this.#isClosed) return Promise.resolve(done)
    this.#opening ??= this.#begin()
    return this.#opening.then(() => this.#subscription?.next() ?? done)
  }

  return(): Promise<Next> {
    this.#isClosed = true
    this.#subscription?.close()
    return Promise.resolve(done)
  }

  async #begin(): Promise<void> {
    let subscription: Subscription | undefined
    try {
      subscription = await this.#open()
      if (this.#isClosed) subscription?.close()
      this.#subscription = subscription
    } finally {
      if (!subscription) this.#isClosed = true
    }
  }
}
