import type { ThreadKey } from '../../core/id.ts'
import { LinePage, pageLengthMax } from '../../core/line-page.ts'
import { RowPage, rowPageEnd, rowPageLengthMax } from '../../core/row-page.ts'
import type { EventPage, EventQuery } from '../store.ts'
import type { Connection } from './connection.ts'

/** A page that is asked for. */
export interface EventAsk {
  readonly key: ThreadKey
  readonly query: EventQuery
}

// One call looks through about this much, so that a search for a task's rare events lets others go on meanwhile; and what is
// asked for together is not longer either.
export const lookLengthMax = 4_194_304

// Of each from the row that holds the first number asked for. Of rows that hold nothing of what is asked for only
// the numbers are sent; a row may be sent for a step that is called like a type.
const selectPages = `
  SELECT w.place, th.first AS kept, th.head, c.first, c.last, c.at, c.body
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
    WITH ORDINALITY AS w (key, after, upto, rows, task, types, place)
  JOIN holdfast.threads th ON th.key = w.key
  LEFT JOIN LATERAL (
    SELECT r.first, r.last, r.at,
      CASE WHEN (w.task IS NULL OR strpos(r.body, E'\\t' || w.task || E'\\t') > 0) AND (w.types IS NULL OR EXISTS (
        SELECT FROM unnest(string_to_array(w.types, ',')) AS type WHERE strpos(r.body, type || E'\\t') > 0
      )) THEN r.body END AS body
    FROM (
      SELECT f.*, sum(octet_length(f.body)) OVER (ORDER BY f.first) - octet_length(f.body) AS before
      FROM (
        SELECT c.first, c.last, c.at, c.body FROM holdfast.chunks c
        WHERE c.thread = th.n AND c.first <= w.upto AND c.first >= coalesce((
          SELECT max(b.first) FROM holdfast.chunks b WHERE b.thread = th.n AND b.first <= greatest(w.after, th.first)
        ), 0)
        ORDER BY c.first LIMIT w.rows
      ) f
    ) r
    WHERE r.before < $7
  ) c ON true
  ORDER BY w.place, c.first`

interface PageRow {
  readonly place: number
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
 * Pages of logs, read at one moment. A filtered one that looked through a lot may come back empty though there is more; `upTo`
 * then says where to go on. Only a search may take longer than `timeoutMs`; it looks through about `lookLength`.
 */
export async function readEvents(
  connection: Connection,
  asks: readonly EventAsk[],
  timeoutMs: number,
  lookLength = pageLengthMax,
): Promise<EventPage[]> {
  const places = asks.map(placeOf)
  const isFiltered = asks.some(({ query }) => query.task)
  const lengthMax = asks.every(({ query }) => query.asRows) ? rowPageLengthMax : pageLengthMax
  const values = [
    asks.map(({ key }) => key),
    places.map(({ from }) => from),
    asks.map(({ query }, n) => (query.limit > 0 ? places[n]?.to : -1)),
    asks.map(({ query }) => rowsMax(query)),
    asks.map(({ query }) => query.task?.id ?? null),
    asks.map(({ query }) => query.types?.join() ?? null),
    isFiltered ? lookLength : Math.min(lengthMax, Math.ceil(lookLengthMax / asks.length)),
  ]
  const statement = { name: 'events', sql: selectPages, values }
  const rows = await connection.query<PageRow>(isFiltered ? statement : { ...statement, timeoutMs })
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return asks.map((ask, n) => pageOf(ask, byPlace.get(n + 1) ?? []))
}

/** More rows than this cannot be needed, because each holds an event; a filtered read may need any number of them. */
function rowsMax({ after, limit, task, asRows }: EventQuery): number {
  if (asRows) return rowPageEnd(after) - after
  return task ? 10_000 : limit
}

function placeOf({ query: { after, task, asRows } }: EventAsk): { from: number; to: number } {
  if (asRows) return { from: after + 1, to: rowPageEnd(after) }
  return { from: Math.max(after + 1, task?.first ?? 0), to: task?.last ?? Number.MAX_SAFE_INTEGER }
}

function pageOf(ask: EventAsk, rows: readonly PageRow[]): EventPage {
  const [any] = rows
  if (!any) return { head: 0, first: 1, events: [], upTo: 0 }
  const { after, limit, task, types } = ask.query
  const { from, to } = placeOf(ask)
  const { head, kept: first } = any
  if (ask.query.asRows) return rowsOf(ask.query, any, rows)
  const last = Math.min(head, to)
  const page = new LinePage({ from: Math.max(from, first), last, limit, task: task?.id, types })
  for (const { first: start, body, ...row } of rows) {
    if (start === null || page.isFull) break
    if (body === null) page.skip(row.last)
    else page.add({ last: row.last, at: row.at, first: start, body })
  }
  const { events, next } = page
  return { head, first, events, upTo: next <= last ? next - 1 : Math.min(head, Math.max(after, last)) }
}

function rowsOf({ after }: EventQuery, { head, kept: first }: PageRow, rows: readonly PageRow[]): EventPage {
  const page = new RowPage(Math.max(after, first - 1))
  for (const { first: start, last, at, body } of rows) {
    if (start === null || body === null || page.isFull) break
    page.add({ first: start, last, at, body })
  }
  return { head, first, events: [], rows: page.rows, upTo: Math.min(head, page.upTo) }
}
