import type { StoredEvent } from './event.ts'
import { LineDecoder } from './event-line.ts'

/** Consecutive events as a store that keeps lines has them: a line for each, from the number `first` to `last`. */
export interface EventRow {
  readonly first: number
  readonly last: number
  readonly at: number
  readonly body: string
}

// What stands around the data in the text of an event, thread and task included, is about this long.
export const envelopeLength = 128

/** About the length of the texts of its events. */
export function rowLength({ first, last, body }: EventRow): number {
  return body.length + (last - first + 1) * envelopeLength
}

/** What of a row follows a number, which is not its last. */
export function rowAfter(row: EventRow, after: number): EventRow {
  const { first, body } = row
  if (after < first) return row
  let begin = 0
  for (let seq = first; seq <= after; seq++) begin = body.indexOf('\n', begin) + 1
  return { ...row, first: after + 1, body: body.slice(begin) }
}

export function decodeRow({ first, last, at, body }: EventRow): StoredEvent[] {
  const lines = new LineDecoder()
  const events: StoredEvent[] = []
  let begin = 0
  for (let seq = first; seq <= last; seq++) {
    const end = lineEnd(body, begin)
    events.push(lines.decode(body, begin, end, seq, at))
    begin = end + 1
  }
  return events
}

/** Where the line ends that begins there. */
export function lineEnd(body: string, begin: number): number {
  const newline = body.indexOf('\n', begin)
  return newline === -1 ? body.length : newline
}
