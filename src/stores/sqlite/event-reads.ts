import type { EventRow } from '../../core/event-row.ts'
import type { ThreadKey } from '../../core/id.ts'
import { LinePage } from '../../core/line-page.ts'
import { RowPage } from '../../core/row-page.ts'
import type { EventPage, EventQuery } from '../store.ts'
import type { Connection } from './connection.ts'

const selectThread = 'SELECT n, first, head FROM threads WHERE key = ?'

// From the row that holds the first number asked for.
const selectChunks = `
  SELECT first, last, at, body FROM chunks INDEXED BY chunks_by_first
  WHERE thread = ?1 AND first <= ?3
    AND first >= coalesce((SELECT max(first) FROM chunks WHERE thread = ?1 AND first <= ?2), 0)
  ORDER BY first`

// One call looks through about this much, so that a search for a task's rare events lets others go on meanwhile.
const lookLengthMax = 4_194_304

/**
 * A page of the log. A filtered one that looked through a lot may come back empty though there is more; `upTo` then says
 * where to go on.
 */
export function readEvents(connection: Connection, key: ThreadKey, query: EventQuery): EventPage {
  const thread = connection.get<ThreadRow>(selectThread, key)
  if (!thread) return { head: 0, first: 1, events: [], upTo: 0 }
  if (query.asRows) return readRows(connection, thread, query)
  const { head, first } = thread
  const last = Math.min(head, query.task?.last ?? head)
  const from = Math.max(query.after + 1, first, query.task?.first ?? first)
  const task = query.task?.id
  const page = new LinePage({ from, last, limit: query.limit, task, types: query.types })
  if (from <= last && query.limit > 0) {
    let lookedLength = 0
    for (const chunk of chunksOf(connection, thread, from, last)) {
      lookedLength += chunk.body.length
      if (task !== undefined && !chunk.body.includes(`\t${task}\t`)) page.skip(chunk.last)
      else page.add(chunk)
      if (page.isFull || lookedLength >= lookLengthMax) break
    }
  }
  const { events, next } = page
  return { head, first, events, upTo: next <= last ? next - 1 : Math.min(head, Math.max(query.after, last)) }
}

interface ThreadRow {
  readonly n: number
  readonly first: number
  readonly head: number
}

function readRows(connection: Connection, thread: ThreadRow, { after }: EventQuery): EventPage {
  const { head, first } = thread
  const page = new RowPage(Math.max(after, first - 1))
  if (page.upTo < head) {
    for (const row of chunksOf(connection, thread, page.upTo + 1, head)) {
      page.add(row)
      if (page.isFull) break
    }
  }
  return { head, first, events: [], rows: page.rows, upTo: Math.min(head, page.upTo) }
}

function chunksOf(connection: Connection, { n }: ThreadRow, from: number, last: number): Iterable<EventRow> {
  return connection.prepare(selectChunks).iterate(n, from, last) as Iterable<unknown> as Iterable<EventRow>
}
