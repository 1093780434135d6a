import { type EventRow, rowAfter, rowLength } from './event-row.ts'

// With a row beyond it, and with a batch of it that is encoded, less than a mebibyte.
export const rowPageLengthMax = 512 * 1024
// Small enough that a page does not hold up the event loop.
const pageEvents = 1024

/**
 * A page of the log as rows that are not looked into, but for the one that holds the first number asked for. It ends with the row
 * that holds the next multiple of 1024, so that readers that began at different places soon read the same pages.
 */
export class RowPage {
  readonly rows: EventRow[] = []
  /** All up to this number is in this or an earlier page. */
  upTo: number
  readonly #end: number
  #length = 0

  constructor(after: number) {
    this.upTo = after
    this.#end = rowPageEnd(after)
  }

  get isFull(): boolean {
    return this.upTo >= this.#end || this.#length >= rowPageLengthMax
  }

  add(row: EventRow): void {
    if (row.last <= this.upTo) return
    const left = rowAfter(row, this.upTo)
    this.rows.push(left)
    this.upTo = row.last
    this.#length += rowLength(left)
  }
}

/** The number that a page after this one need not go beyond: the next multiple of `pageEvents`. */
export function rowPageEnd(after: number): number {
  return (Math.floor(after / pageEvents) + 1) * pageEvents
}
