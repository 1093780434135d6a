import type { Event } from '../../../src/core/event.ts'

/** What one client has seen of a log, in the order in which it came. */
export interface Watcher {
  readonly events: readonly Event[]
  /** The status line of the answer: 200, or 204 for an ended task. A WebSocket has no other than 200. */
  readonly status: number
  /** Everything up to and with the first event that satisfies this. Rejects if the stream ends without one. */
  until(isLast: (event: Event) => boolean): Promise<readonly Event[]>
  /** Resolves when the other side has ended the stream, or the connection is gone. */
  readonly ended: Promise<StreamEnd>
  /** Leaves. */
  close(): void
}

/** `end` is said by the server and means that nothing follows; a code is that of a closed WebSocket. */
export type StreamEnd = { readonly by: 'end' } | { readonly by: 'close'; readonly code?: number }

/**
 * Keeps what a stream brings, and holds it to what every stream promises: numbers ascend, unfiltered without a hole.
 */
export class Tape {
  readonly events: Event[] = []
  readonly ended: Promise<StreamEnd>
  readonly #isFiltered: boolean
  readonly #waiting = new Set<() => void>()
  readonly #end: (end: StreamEnd) => void
  #last: number
  #over: StreamEnd | undefined
  #broken: Error | undefined

  constructor(after: number, isFiltered: boolean) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.#end = resolve
    this.#last = after
    this.#isFiltered = isFiltered
  }

  push(event: Event): void {
    if (this.#over?.by === 'end') this.break(`${event.type} ${event.seq} came after the end`)
    const isNext = this.#isFiltered ? event.seq > this.#last : event.seq === this.#last + 1
    if (!isNext) this.break(`${event.seq} came after ${this.#last}`)
    this.#last = event.seq
    this.events.push(event)
    this.#wake()
  }

  /** The stream broke a promise: whoever waits is told. */
  break(complaint: string): void {
    this.#broken ??= new Error(complaint)
    this.#wake()
  }

  end(end: StreamEnd): void {
    if (this.#over) return
    this.#over = end
    this.#end(end)
    this.#wake()
  }

  async until(isLast: (event: Event) => boolean): Promise<readonly Event[]> {
    for (let looked = 0; ; ) {
      if (this.#broken) throw this.#broken
      for (; looked < this.events.length; looked += 1) {
        const event = this.events[looked]
        if (event && isLast(event)) return this.events.slice(0, looked + 1)
      }
      if (this.#over) throw new Error(`The stream ended (${JSON.stringify(this.#over)}) after ${this.#summary()}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  #summary(): string {
    return this.events.map(({ seq, type }) => `${seq} ${type}`).join(', ') || 'nothing'
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
