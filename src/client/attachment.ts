import { type HoldfastError, isHoldfastError } from '../core/errors.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import type { ClientClock } from './clock.ts'
import type { ConnectionMonitor } from './connection.ts'
import { Machine } from './machine.ts'
import { livePlace, type Place, type PlaceAction, type PlaceInput, type PlaceItem, placeAt, resume } from './resume.ts'
import type { Sink, Source, Wanted } from './source.ts'
import type { NoticeItem } from './thread-event.ts'

export interface AttachmentParts {
  /** The way that is open now. */
  source(): Source
  snapshot(thread: string, signal: AbortSignal): Promise<ThreadSnapshot>
  readonly clock: ClientClock
  readonly random: () => number
  readonly monitor: ConnectionMonitor
  /** Called with everything that is said of it beside the events. */
  onNotice(item: NoticeItem): void
  onEnd(attachment: Attachment): void
}

export interface AttachmentOptions extends Wanted {
  readonly after?: number
  readonly picture?: number
  readonly signal?: AbortSignal | undefined
  /** Called once, when it is first open. */
  readonly onOpen?: (() => void) | undefined
}

interface Held {
  readonly item: PlaceItem
  readonly size: number
}

type Taken = IteratorResult<PlaceItem, undefined>

// What a reader that is slow may leave here, in characters. Beyond it the log is not followed until all is taken.
const heldCharactersMax = 4 * 1024 * 1024
const over: Taken = { done: true, value: undefined }

/**
 * A thread's log from some place on, or the live events of all threads, as an iterator. It begins to follow when it is first asked, comes back by itself when
 * a connection breaks, and ends with its task, or when it is closed, which cancels nothing.
 */
export class Attachment implements AsyncIterableIterator<PlaceItem, undefined> {
  readonly #parts: AttachmentParts
  readonly #wanted: Wanted
  readonly #signal: AbortSignal | undefined
  #onOpen: (() => void) | undefined
  readonly #machine: Machine<Place, PlaceInput, PlaceAction>
  readonly #held: Held[] = []
  #heldCharacters = 0
  /** The size of the event that is being dealt with. */
  #size = 0
  readonly #takers: PromiseWithResolvers<Taken>[] = []
  #stop: (() => void) | undefined
  #end: { readonly error?: HoldfastError | undefined } | undefined

  constructor(parts: AttachmentParts, { after, picture, signal, onOpen, ...wanted }: AttachmentOptions) {
    this.#parts = parts
    this.#wanted = wanted
    this.#signal = signal
    this.#onOpen = onOpen
    const { thread, task, types } = wanted
    const place = placeAt({ after, picture, task, isWhole: task === undefined && types === undefined })
    this.#machine = new Machine(thread === undefined ? livePlace : place, resume, (action) => this.#act(action))
    if (signal?.aborted) this.close()
    else signal?.addEventListener('abort', this.#close, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Taken> {
    if (this.#machine.state.phase === 'new') this.#machine.send({ type: 'start' })
    const held = this.#held.shift()
    if (held) {
      this.#heldCharacters -= held.size
      if (this.#held.length === 0) this.#machine.send({ type: 'drained' })
      return Promise.resolve({ done: false, value: held.item })
    }
    if (this.#end) return this.#ended()
    const taker = Promise.withResolvers<Taken>()
    this.#takers.push(taker)
    return taker.promise
  }

  return(): Promise<Taken> {
    this.close()
    return Promise.resolve(over)
  }

  /** Detaches. What was not taken is let go; no task notices. */
  close(): void {
    this.#machine.send({ type: 'close' })
    this.#held.length = 0
  }

  /** Tries again now, if it waits to. */
  hasten(): void {
    this.#machine.send({ type: 'hasten' })
  }

  readonly #close = (): void => this.close()

  #act(action: PlaceAction): void {
    const { monitor, source } = this.#parts
    switch (action.do) {
      case 'read':
        return this.#read()
      case 'follow':
        monitor.set(this, { is: 'connecting', hasFailed: this.#machine.state.failures > 0 })
        this.#stop = source().follow(this.#wanted, this.#sink())
        return
      case 'stop':
        this.#stop?.()
        this.#stop = undefined
        return
      case 'wait':
        return this.#wait(action.ms)
      case 'give':
        return this.#give(action.item)
      case 'finish':
        return this.#finish(action.error)
    }
  }

  /** What it tells counts only as long as it is the one that is followed. */
  #sink(): Sink {
    const machine = this.#machine
    const { random, monitor } = this.#parts
    return {
      get after() {
        return machine.state.last ?? 0
      },
      opened: (isStale) => {
        monitor.set(this, { is: 'live' })
        machine.send({ type: 'opened', isStale })
        this.#onOpen?.()
        this.#onOpen = undefined
      },
      event: (event, size) => {
        this.#size = size
        machine.send({ type: 'event', event })
        if (this.#heldCharacters > heldCharactersMax) machine.send({ type: 'full' })
      },
      ended: () => machine.send({ type: 'ended' }),
      lost: (error) => machine.send({ type: 'lost', error, random: random() }),
    }
  }

  #read(): void {
    const { snapshot, random, monitor } = this.#parts
    const leaving = new AbortController()
    this.#stop = () => leaving.abort()
    monitor.set(this, { is: 'connecting', hasFailed: this.#machine.state.failures > 0 })
    snapshot(this.#wanted.thread ?? '', leaving.signal).then(
      (read) => {
        if (!leaving.signal.aborted) this.#machine.send({ type: 'snapshot', snapshot: read })
      },
      (error: unknown) => {
        if (leaving.signal.aborted) return
        // What cannot be understood was not answered by the server, or was cut off.
        this.#machine.send({ type: 'lost', error: isHoldfastError(error) ? error : undefined, random: random() })
      },
    )
  }

  #wait(ms: number): void {
    const { clock, monitor } = this.#parts
    monitor.set(this, { is: 'waiting', ms })
    const timer = clock.setTimer(ms, () => this.#machine.send({ type: 'due' }))
    this.#stop = () => timer.cancel()
  }

  #give(item: PlaceItem): void {
    if (item.type === 'notice') this.#parts.onNotice(item)
    const taker = this.#takers.shift()
    if (taker) return taker.resolve({ done: false, value: item })
    this.#held.push({ item, size: this.#size })
    this.#heldCharacters += this.#size
  }

  #finish(error: HoldfastError | undefined): void {
    this.#signal?.removeEventListener('abort', this.#close)
    this.#parts.monitor.set(this)
    this.#parts.onEnd(this)
    this.#end = { error }
    const [first, ...rest] = this.#takers.splice(0)
    if (first) void this.#ended().then(first.resolve, first.reject)
    for (const taker of rest) taker.resolve(over)
  }

  /** What is wrong is told once; after that it is over. */
  #ended(): Promise<Taken> {
    const error = this.#end?.error
    this.#end = {}
    return error ? Promise.reject(error) : Promise.resolve(over)
  }
}
