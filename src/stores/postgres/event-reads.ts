import type { ThreadKey } from '../../core/id.ts'
import { LinePage, pageLengthMax } from '../../core/line-page.ts'
import type { EventPage, EventQuery } from '../store.ts'
import type { Connection } from './connection.ts'

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
  const page = new LinePage({ from: Math.max(from, first), last, limit, task: task?.id })
  for (const { first: start, body, ...row } of rows) {
    if (start === null || page.isFull) break
    if (body === null) page.skip(row.last)
    else page.add({ ...row, first: start, body })
  }
  const { events, next } = page
  return { head, first, events, upTo: next <= last ? next - 1 : Math.min(head, Math.max(after, last)) }
}
