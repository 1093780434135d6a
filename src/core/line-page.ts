import type { EventType, StoredEvent } from './event.ts'
import { LineDecoder } from './event-line.ts'
import { type EventRow, lineEnd } from './event-row.ts'
import type { TaskId } from './id.ts'

// A page holds about this much, however large its events are, and at least one event.
export const pageLengthMax = 1_048_576

export interface LinePageQuery {
  /** The first and the last number that are asked for. */
  readonly from: number
  readonly last: number
  readonly limit: number
  /** Only events of this task. */
  readonly task?: TaskId | undefined
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
}

/** A page of the log, gathered from rows that hold consecutive events as lines. */
export class LinePage {
  readonly events: StoredEvent[] = []
  /** The first number not looked at. */
  next: number
  readonly #query: LinePageQuery
  readonly #lines = new LineDecoder()
  #length = 0

  constructor(query: LinePageQuery) {
    this.#query = query
    this.next = query.from
  }

  get isFull(): boolean {
    return this.events.length >= this.#query.limit || this.#length >= pageLengthMax
  }

  /** A row that holds nothing of what is asked for. */
  skip(last: number): void {
    this.next = Math.max(this.next, Math.min(last, this.#query.last) + 1)
  }

  /** Cuts the body line by line, because most of a large one may lie outside the page. */
  add(row: EventRow): void {
    const { first, at, body } = row
    const last = Math.min(row.last, this.#query.last)
    let begin = 0
    for (let seq = first; seq <= last && !this.isFull; seq++) {
      const end = lineEnd(body, begin)
      if (seq >= this.next) {
        if (this.#isAskedFor(body, begin)) {
          this.events.push(this.#lines.decode(body, begin, end, seq, at))
          this.#length += end - begin
        }
        this.next = seq + 1
      }
      begin = end + 1
    }
  }

  /** The first field of a line is its type, the second its task. */
  #isAskedFor(body: string, begin: number): boolean {
    const { task, types } = this.#query
    const isOfType = (type: string) => body.startsWith(type, begin) && body[begin + type.length] === '\t'
    if (types && !types.some(isOfType)) return false
    return task === undefined || body.startsWith(`${task}\t`, body.indexOf('\t', begin) + 1)
  }
}
