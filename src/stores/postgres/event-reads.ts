import type { StoredEvent } from '../../core/event.ts'
import { LineDecoder } from '../../core/event-line.ts'
import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { EventPage, EventQuery } from '../store.ts'
import type { Connection } from './connection.ts'

// A page holds about this much, however large its events are, and at least one event.
const pageLengthMax = 1_048_576
// One call looks through about this much, so that a search for a task's rare events lets others go on meanwhile.
const lookLengthMax = 4_194_304

// From the row that holds the first number asked for. Of rows without an event of the task only the numbers are sent.
const selectPage = `
  SELECT th.first AS kept, th.head, c.first, c.last, c.at, c.body
  FROM holdfast.threads th
  LEFT JOIN LATERAL (
    SELECT r.first, r.last, r.at,
      CASE WHEN $5::text IS NULL OR strpos(r.body, E'\\t' || $5 || E'\\t') > 0 THEN r.body END AS body
    FROM (
      SELECT f.*, sum(octet_length(f.body)) OVER (ORDER BY f.first) - octet_length(f.body) AS before
      FROM (
        SELECT c.first, c.last, c.at, c.body FROM holdfast.chunks c
        WHERE c.thread = th.n AND c.first <= $3 AND c.first >= coalesce((
          SELECT max(b.first) FROM holdfast.chunks b WHERE b.thread = th.n AND b.first <= greatest($2, th.first)
        ), 0)
        ORDER BY c.first LIMIT $4
      ) f
    ) r
    WHERE r.before < $6
  ) c ON true
  WHERE th.key = $1
  ORDER BY c.first`

interface PageRow {
  readonly kept: number
  readonly head: number
  /** Null if no row of the log is asked for. */
  readonly first: number | null
  readonly last: number
  readonly at: number
  /** Null if the row holds nothing of the task. */
  readonly body: string | null
}

/**
 * A page of the log. A filtered one that looked through a lot may come back empty though there is more; `upTo` then says
 * where to go on.
 */
export async function readEvents(connection: Connection, key: ThreadKey, query: EventQuery): Promise<EventPage> {
  const { after, limit, task } = query
  // More rows than this cannot be needed, because each holds an event; a filtered read may need any number of them.
  const rowCount = task ? 10_000 : limit
  const lengthMax = task ? lookLengthMax : pageLengthMax
  const from = Math.max(after + 1, task?.first ?? 0)
  const to = task?.last ?? Number.MAX_SAFE_INTEGER
  const values = [key, from, limit > 0 ? to : -1, rowCount, task?.id ?? null, lengthMax]
  const rows = await connection.query<PageRow>({ name: 'events', sql: selectPage, values })
  const [any] = rows
  if (!any) return { head: 0, first: 1, events: [], upTo: 0 }
  const { head, kept: first } = any
  const last = Math.min(head, to)
  const page = new Page(Math.max(from, first), last, query)
  for (const row of rows) if (row.first === null || page.add(row, row.first) === 'full') break
  const { events, next } = page
  return { head, first, events, upTo: next <= last ? next - 1 : Math.min(head, Math.max(after, last)) }
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

  constructor(from: number, last: number, query: EventQuery) {
    this.next = from
    this.#last = last
    this.#limit = query.limit
    this.#task = query.task?.id
  }

  add({ last, at, body }: PageRow, first: number): 'full' | 'open' {
    const end = Math.min(last, this.#last)
    if (body === null) this.next = Math.max(this.next, end + 1)
    else this.#addLines(body, at, first, end)
    return this.#isFull ? 'full' : 'open'
  }

  /** Cuts the body line by line, because most of a large one may lie outside the page. */
  #addLines(body: string, at: number, first: number, last: number): void {
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
