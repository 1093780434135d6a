import type { Event } from '../core/event.ts'
import type { LogCursor } from './log-cursor.ts'
import type { LoggedEvent } from './log-entry.ts'
import { entriesOf } from './log-stretch.ts'

type Next = IteratorResult<Event, undefined>

const done: Next = { done: true, value: undefined }
const none: readonly LoggedEvent[] = []

/**
 * A cursor as an async iterator of events. It is opened by its first `next`: what is wrong with it is told there.
 * Calls that overlap are answered in the order of the calls.
 */
export class Subscription implements AsyncIterableIterator<Event, undefined> {
  #open: (() => Promise<LogCursor>) | undefined
  #cursor: LogCursor | undefined
  #batch = none
  #index = 0
  #isClosed = false
  #filling: Promise<Next> | undefined

  constructor(open: () => Promise<LogCursor>) {
    this.#open = open
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Next> {
    if (this.#filling) {
      const again = () => this.next()
      return this.#filling.then(again, again)
    }
    const entry = this.#batch[this.#index]
    if (entry) {
      this.#index += 1
      return Promise.resolve({ done: false, value: entry.event })
    }
    if (this.#isClosed) return Promise.resolve(done)
    this.#filling = this.#fill()
    return this.#filling
  }

  return(): Promise<Next> {
    this.#close()
    return Promise.resolve(done)
  }

  async #fill(): Promise<Next> {
    try {
      this.#batch = none
      this.#index = 1
      const cursor = this.#cursor ?? (await this.#opened())
      const batch = this.#isClosed ? undefined : await cursor.next()
      const entries = batch && !this.#isClosed ? entriesOf(batch) : none
      const [first] = entries
      if (first) {
        this.#batch = entries
        return { done: false, value: first.event }
      }
      this.#close()
      return done
    } catch (error) {
      // Whoever has left wants to know no more of it.
      if (this.#isClosed) return done
      this.#close()
      throw error
    } finally {
      this.#filling = undefined
    }
  }

  async #opened(): Promise<LogCursor> {
    const open = this.#open
    this.#open = undefined
    if (!open) throw new Error('Broken invariant: a subscription is opened once')
    this.#cursor = await open()
    if (this.#isClosed) this.#cursor.close()
    return this.#cursor
  }

  #close(): void {
    this.#isClosed = true
    this.#batch = none
    this.#cursor?.close()
  }
}
