import { HoldfastError } from '../core/errors.ts'
import { type Event, isTerminalEvent, type StoredEvent, toEvent } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'
import type { EventPage } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import type { Ring, RingEvent } from './ring.ts'

export interface SubscriptionParts {
  readonly ring: Ring
  readonly after: number
  /** Only this task's events; the subscription ends after its terminal one. */
  readonly task?: { readonly id: TaskId; readonly first: number }
  /** Reads a page of the log after a number. */
  read(after: number): Promise<EventPage>
  onMiss(): void
  onClose(subscription: Subscription): void
}

type Next = IteratorResult<Event, undefined>

const done: Next = { done: true, value: undefined }

/**
 * A cursor in a thread's log, as an async iterator: replay, then live, without a seam.
 *
 * C1 After number N comes N + 1, or the next that matches, each once and in order.
 * C2 It keeps a position, not events: what it is behind is read from the shared ring, or from the store.
 */
export class Subscription implements AsyncIterableIterator<Event, undefined> {
  readonly #parts: SubscriptionParts
  #cursor: number
  #batch: readonly (RingEvent | StoredEvent)[] = []
  #index = 0
  #isClosed = false
  /** Its position is known to be within the log. */
  #isPlaced = false
  #filling: Promise<Next> | undefined
  #wake: (() => void) | undefined
  #unwatch: () => void

  constructor(parts: SubscriptionParts) {
    this.#parts = parts
    this.#cursor = parts.after
    this.#unwatch = parts.ring.watch(() => this.#wake?.())
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Next> {
    // A second call before the first is answered waits for it, so that order holds for any caller.
    if (this.#filling) return this.#filling.then(() => this.next())
    const event = this.#take()
    if (event) return Promise.resolve({ done: false, value: event })
    this.#filling = this.#fill().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  return(): Promise<Next> {
    this.close()
    return Promise.resolve(done)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#batch = []
    this.#unwatch()
    this.#wake?.()
    this.#parts.onClose(this)
  }

  #take(): Event | undefined {
    const { task, ring } = this.#parts
    while (this.#index < this.#batch.length) {
      const entry = this.#batch[this.#index++] as RingEvent | StoredEvent
      const stored = 'stored' in entry ? entry.stored : entry
      this.#cursor = stored.seq
      if (task && stored.task !== task.id) continue
      const event = 'stored' in entry ? ring.eventOf(entry) : toEvent(ring.key, entry)
      if (task && isTerminalEvent(stored)) this.close()
      return event
    }
    return undefined
  }

  async #fill(): Promise<Next> {
    try {
      while (!this.#isClosed) {
        await this.#look()
        const event = this.#isClosed ? undefined : this.#take()
        if (event) return { done: false, value: event }
      }
      return done
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Gets the next events, from the ring if they are there, else from the store; waits if there are none. */
  async #look(): Promise<void> {
    const { ring } = this.#parts
    const shared = this.#isPlaced ? ring.after(this.#cursor) : undefined
    if (shared) return this.#use(shared)
    if (this.#isPlaced && ring.isCurrent && this.#cursor >= ring.head) return this.#changed()
    if (this.#isPlaced) {
      this.#parts.onMiss()
      // A page per turn: a store may answer within one, and a long replay would keep the event loop from everybody else.
      await nextTurn()
      if (this.#isClosed) return
    }
    const page = await this.#parts.read(this.#cursor)
    this.#check(page)
    this.#use(page.events)
    if (page.events.length === 0) this.#cursor = Math.max(this.#cursor, page.upTo)
    if (this.#cursor >= page.head) ring.advance(page.head)
  }

  #use(batch: readonly (RingEvent | StoredEvent)[]): void {
    this.#batch = batch
    this.#index = 0
  }

  /** Never a silent clamp: a cursor outside the log is an error that says where the log is. */
  #check(page: EventPage): void {
    const after = this.#cursor
    if (!this.#isPlaced) checkAhead(after, page.head)
    if (after < page.first - 1) {
      throw new HoldfastError('offset_gone', `The log begins at ${page.first}; what follows ${after} is gone`, {
        facts: { first: page.first },
      })
    }
    this.#isPlaced = true
  }

  async #changed(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }
}

export function checkAhead(after: number, head: number): void {
  if (after <= head) return
  throw new HoldfastError('offset_ahead', `The log ends at ${head}, before ${after}`, { facts: { head } })
}
