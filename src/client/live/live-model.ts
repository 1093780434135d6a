import type { ClientClock } from '../clock.ts'
import { type LiveError, toLiveError } from './live-error.ts'
import type { Schedule } from './schedule.ts'

/** A value that changes, for whoever shows it. It is the same object until it changes. */
export interface Live<Value> {
  get(): Value
  /** Returns what ends it. */
  subscribe(onChange: () => void): () => void
}

/** What every live value tells of itself. */
export interface Loadable {
  /** Whether nothing was heard of the server yet. */
  readonly isLoading: boolean
  readonly error?: LiveError
}

/** What keeps a model up to date while it is looked at. */
export interface Following<Value> {
  readonly signal: AbortSignal
  /** The value as it will be published. */
  readonly value: Value
  set(value: Value): void
  /** Says in the value what went wrong, and leaves the rest as it is. */
  fail(error: unknown): void
}

export interface LiveModelParts<Value> {
  readonly clock: ClientClock
  readonly schedule: Schedule
  readonly initial: Value
  /** Goes on until the signal fires or nothing more can come. What it rejects with becomes the `error` of the value. */
  follow(following: Following<Value>): Promise<void>
  /** Nobody has looked at it for a while. */
  onStopped(): void
}

// A page that mounts everything twice, or goes to its next view, comes back within this time.
const lingerMs = 1000

/**
 * A value that is kept up to date while anybody looks at it. It only reads: whoever stops looking cancels nothing.
 *
 * L1 It follows from its first subscriber on until `lingerMs` after its last has left.
 * L2 Subscribers are told at most once per turn of the schedule, and `get` changes only then.
 * L3 What comes from a following that was ended changes nothing.
 */
export class LiveModel<Value extends Loadable> implements Live<Value> {
  readonly #parts: LiveModelParts<Value>
  readonly #subscribers = new Set<() => void>()
  #published: Value
  #value: Value
  #isScheduled = false
  #leaving: AbortController | undefined
  #linger: { cancel(): void } | undefined

  constructor(parts: LiveModelParts<Value>) {
    this.#parts = parts
    this.#published = parts.initial
    this.#value = parts.initial
  }

  get(): Value {
    return this.#published
  }

  subscribe(onChange: () => void): () => void {
    const subscriber = (): void => onChange()
    this.#subscribers.add(subscriber)
    this.#linger?.cancel()
    this.#linger = undefined
    if (!this.#leaving) this.#start()
    return () => {
      if (!this.#subscribers.delete(subscriber) || this.#subscribers.size > 0) return
      this.#linger = this.#parts.clock.setTimer(lingerMs, () => this.#stop())
    }
  }

  /** Begins again, after an error or to be sure. What is shown stays until something newer comes. */
  retry(): void {
    if (!this.#leaving) return
    this.#leaving.abort()
    this.#start()
  }

  #start(): void {
    const leaving = new AbortController()
    const { signal } = leaving
    this.#leaving = leaving
    const current = (): Value => this.#value
    const following: Following<Value> = {
      signal,
      get value() {
        return current()
      },
      set: (value) => {
        if (!signal.aborted) this.#set(value)
      },
      fail: (error) => {
        if (!signal.aborted) this.#set({ ...this.#value, isLoading: false, error: toLiveError(error) })
      },
    }
    this.#parts.follow(following).catch((error: unknown) => following.fail(error))
  }

  #stop(): void {
    this.#leaving?.abort()
    this.#leaving = undefined
    this.#parts.onStopped()
  }

  #set(value: Value): void {
    if (value === this.#value) return
    this.#value = value
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#parts.schedule(() => {
      this.#isScheduled = false
      if (this.#published === this.#value) return
      this.#published = this.#value
      for (const subscriber of [...this.#subscribers]) subscriber()
    })
  }
}
