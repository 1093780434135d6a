import type { HoldfastError } from '../core/errors.ts'
import type { ThreadEvent } from './thread-event.ts'

/** Which log, and what of it. */
export interface Wanted {
  /** The live events of all threads unless given. */
  readonly thread?: string
  readonly task?: string
  readonly types?: readonly string[]
}

/** Who takes what comes. Nothing is told after the one that followed was stopped. */
export interface Sink {
  /** The number of the last event that it has. */
  readonly after: number
  /** `isStale` says that what was open before was lost meanwhile, and comes on from where it was. */
  opened(isStale?: boolean): void
  /** `size` is the length of the event as text. */
  event(event: ThreadEvent, size: number): void
  /** Nothing can follow: the task has ended. */
  ended(): void
  /** The log cannot be followed further: it was refused with an error, or the connection is gone. */
  lost(error?: HoldfastError): void
}

/** A way to follow logs. What it returns stops it. After `ended` and `lost` it has stopped. */
export interface Source {
  follow(wanted: Wanted, sink: Sink): () => void
}
