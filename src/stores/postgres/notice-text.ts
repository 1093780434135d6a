import type { EventRow } from '../../core/event-row.ts'
import type { ThreadKey } from '../../core/id.ts'
import type { Committed, Unit } from '../../core/unit.ts'
import { separator } from './pack-texts.ts'

// The server refuses a notice of 8,000 bytes. Keys are ASCII.
const noticeBytesMax = 7_900
// Of a thread that grew by more only its key is told: whoever watches it reads one page, and nobody else is told for nothing.
const rowsBytesMax = 2_048
// What is sent at once stays small, however many threads have grown.
const allRowsBytesMax = 65_536

// Of threads named after it only the log has grown; the second also says by what. A key has a slash in it.
const logsFromHere = '+'
const rowsFromHere = '='

/** What is to be told of a thread. */
export interface News {
  /** More than its log has changed. */
  readonly isChanged: boolean
  /** What its log has grown by, if that is known and short. */
  readonly rows?: readonly EventRow[]
}

export type NoticeListener = (key: ThreadKey, isChanged: boolean, row?: EventRow) => void

/** What a committed unit is to others; `body` is what it has written to the log, where that is all it has written. */
export function newsOf({ rev, events }: Unit, { first, at }: Committed, body: string | undefined): News {
  if (rev !== undefined || body === undefined || body.length > rowsBytesMax) return { isChanged: rev !== undefined }
  return { isChanged: false, rows: [{ first, last: first + events.length - 1, at, body }] }
}

/** Both, the second having come after the first. */
export function joinNews(first: News | undefined, then: News): News {
  if (!first) return then
  const isChanged = first.isChanged || then.isChanged
  if (isChanged || !first.rows || !then.rows) return { isChanged }
  const rows = [...first.rows, ...then.rows]
  // What is longer is not told, and nothing is kept for it while it cannot be.
  return lengthOf(rows) > rowsBytesMax ? { isChanged } : { isChanged, rows }
}

/** The texts that tell it, from whom they are first in each. */
export function noticesOf(from: string, news: ReadonlyMap<ThreadKey, News>): string[] {
  const changed = new Packing(from, ' ')
  const grown = new Packing(`${from} ${logsFromHere}`, ' ')
  const rows = new Packing(`${from} ${rowsFromHere}`, separator)
  let room = allRowsBytesMax
  for (const [key, each] of news) {
    const text = each.isChanged || room < rowsBytesMax ? undefined : rowsText(key, each.rows)
    if (each.isChanged) changed.add(key, key.length)
    else if (text === undefined) grown.add(key, key.length)
    else {
      const bytes = Buffer.byteLength(text)
      room -= bytes
      rows.add(text, bytes)
    }
  }
  return [changed, grown, rows].flatMap((packing) => packing.texts())
}

/** Of whom a notice is. */
export function isFrom(text: string, from: string): boolean {
  return text === from || text.startsWith(`${from} `)
}

/** Tells what a notice says. What it cannot make out it leaves out: a notice is a hint. */
export function readNotice(text: string, tell: NoticeListener): void {
  const [head = '', ...fields] = text.split(separator)
  const [, ...keys] = head.split(' ')
  const kind = keys[0]
  if (kind === rowsFromHere) return readRows(fields, tell)
  const isGrown = kind === logsFromHere
  for (const key of isGrown ? keys.slice(1) : keys) tell(key as ThreadKey, !isGrown)
}

function lengthOf(rows: readonly EventRow[]): number {
  return rows.reduce((sum, { body }) => sum + body.length, 0)
}

function rowsText(key: ThreadKey, rows: readonly EventRow[] | undefined): string | undefined {
  if (!rows || rows.length === 0) return undefined
  const text = rows
    .map(({ first, last, at, body }) => `${key} ${first} ${last} ${at}${separator}${body}`)
    .join(separator)
  return text.length <= rowsBytesMax && Buffer.byteLength(text) <= rowsBytesMax ? text : undefined
}

function readRows(fields: readonly string[], tell: NoticeListener): void {
  for (let n = 0; n + 1 < fields.length; n += 2) {
    const [key, ...numbers] = fields[n]?.split(' ') ?? []
    const [first, last, at] = numbers.map(Number)
    const body = fields[n + 1]
    if (key === undefined || body === undefined || first === undefined || last === undefined || at === undefined)
      continue
    tell(key as ThreadKey, false, { first, last, at, body })
  }
}

/** Puts as many to a notice as it holds. */
class Packing {
  readonly #before: string
  readonly #between: string
  readonly #texts: string[] = []
  #text: string
  #bytes = 0

  constructor(before: string, between: string) {
    this.#before = before
    this.#between = between
    this.#text = before
  }

  add(text: string, bytes: number): void {
    if (this.#before.length + this.#bytes + bytes + 1 > noticeBytesMax) this.#cut()
    this.#text = `${this.#text}${this.#between}${text}`
    this.#bytes += bytes + 1
  }

  texts(): string[] {
    this.#cut()
    return this.#texts
  }

  #cut(): void {
    if (this.#bytes > 0) this.#texts.push(this.#text)
    this.#text = this.#before
    this.#bytes = 0
  }
}
