import { type Event, type StoredEvent, toEvent } from '../core/event.ts'
import { envelopeLength } from '../core/event-row.ts'
import { eventText } from '../core/event-text.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'

/** An event of a log, ready to be sent. */
export interface LogEntry {
  readonly seq: number
  readonly type: string
  readonly task?: TaskId | undefined
  /** The Event as JSON. */
  readonly text: string
  /** What was made of batches that begin with it, until a ring lets go of one that it is in. */
  made?: Made | undefined
}

/** Something made of a batch, by whom, and what was made before it. */
export interface Made {
  readonly maker: object
  readonly batch: readonly LogEntry[]
  readonly value: unknown
  readonly before: Made | undefined
}

/** An event that is encoded at most once, and parsed at most once, however many watch. */
export class LoggedEvent implements LogEntry {
  readonly #key: ThreadKey
  readonly #stored: StoredEvent
  #text: string | undefined
  #event: Event | undefined
  made: Made | undefined = undefined

  constructor(key: ThreadKey, stored: StoredEvent) {
    this.#key = key
    this.#stored = stored
  }

  get seq(): number {
    return this.#stored.seq
  }

  get type(): string {
    return this.#stored.type
  }

  get task(): TaskId | undefined {
    return this.#stored.task
  }

  get at(): number {
    return this.#stored.at
  }

  /** About the length of its text, known before it is encoded. */
  get length(): number {
    return this.#stored.data.length + envelopeLength
  }

  get text(): string {
    this.#text ??= eventText(this.#key, this.#stored)
    return this.#text
  }

  get event(): Event {
    this.#event ??= toEvent(this.#key, this.#stored)
    return this.#event
  }
}

// What is handed out at once: large enough that a replay is mostly reading, small enough that a slow reader holds little.
export const batchLengthMax = 256 * 1024

/** Where a batch ends that begins at `from`: after as much text as it may hold, and after one event at least. */
export function batchEnd(entries: readonly LoggedEvent[], from: number, lengthMax = batchLengthMax): number {
  let end = from
  for (let length = 0; end < entries.length; end++) {
    length += entries[end]?.length ?? 0
    if (length > lengthMax && end > from) break
  }
  return end
}
