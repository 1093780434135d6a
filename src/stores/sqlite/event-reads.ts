import type { StoredEvent } from '../../core/event.ts'
import { LineDecoder } from '../../core/event-line.ts'
import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { EventPage, EventQuery } from '../store.ts'
import type { Connection } from './connection.ts'

const selectThread = 'SELECT n, first, head FROM threads WHERE key = ?'

// From the row that holds the first number asked for.
const selectChunks = `
  SELECT first, last, at, body FROM chunks INDEXED BY chunks_by_first
  WHERE thread = ?1 AND first <= ?3
    AND first >= coalesce((SELECT max(first) FROM chunks WHERE thread = ?1 AND first <= ?2), 0)
  ORDER BY first`

// A page holds about this much, however large its events are, and at least one event.
const pageLengthMax = 1_048_576
// One call looks through about this much, so that a search for a task's rare events lets others go on meanwhile.
const lookLengthMax = 4_194_304

/**
 * A page of the log. A filtered one that looked through a lot may come back empty though there is more; `upTo` then says
 * where to go on.
 */
export function readEvents(connection: Connection, key: ThreadKey, query: EventQuery): EventPage {
  const thread = connection.get<{ n: number; first: number; head: number }>(selectThread, key)
  if (!thread) return { head: 0, first: 1, events: [], upTo: 0 }
  const { head, first } = thread
  const last = Math.min(head, query.task?.last ?? head)
  const from = Math.max(query.after + 1, first, query.task?.first ?? first)
  const page = new Page(from, last, query)
  if (from <= last && query.limit > 0) {
    for (const row of connection.prepare(selectChunks).iterate(thread.n, from, last)) {
      if (page.add(row as unknown as ChunkRow) === 'full') break
    }
  }
  const { events, next } = page
  return { head, first, events, upTo: next <= last ? next - 1 : Math.min(head, Math.max(query.after, last)) }
}

interface ChunkRow {
  readonly first: number
  readonly last: number
  readonly at: number
  readonly body: string
}

class Page {
  readonly events: StoredEvent[] = []
  readonly #lines = new LineDecoder()
  /** The first number not looked at. */
  next: number
  readonly #last: number
  readonly #limit: number
  readonly #task: TaskId | undefined
  #length = 0
  #lookedLength = 0

  constructor(from: number, last: number, query: EventQuery) {
    this.next = from
    this.#last = last
    this.#limit = query.limit
    this.#task = query.task?.id
  }

  add(chunk: ChunkRow): 'full' | 'open' {
    const last = Math.min(chunk.last, this.#last)
    this.#lookedLength += chunk.body.length
    if (this.#task !== undefined && !chunk.body.includes(`\t${this.#task}\t`)) this.next = last + 1
    else this.#addLines(chunk, last)
    return this.#isFull || this.#lookedLength >= lookLengthMax ? 'full' : 'open'
  }

  /** Cuts the body line by line, because most of a large one may lie outside the page. */
  #addLines({ first, at, body }: ChunkRow, last: number): void {
    let begin = 0
    for (let seq = first; seq <= last && !this.#isFull; seq++) {
      const newline = body.indexOf('\n', begin)
      const end = newline === -1 ? body.length : newline
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

  /** The second field of a line is its task. */
  #isAskedFor(body: string, begin: number): boolean {
    return this.#task === undefined || body.startsWith(`${this.#task}\t`, body.indexOf('\t', begin) + 1)
  }

  get #isFull(): boolean {
    return this.events.length >= this.#limit || this.#length >= pageLengthMax
  }
}
