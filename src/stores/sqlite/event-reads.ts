import type { ThreadKey } from '../../core/id.ts'
import { LinePage } from '../../core/line-page.ts'
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
  const thread = connection.get<{ n: number; first: number; head: number }>(selectThread, key)
  if (!thread) return { head: 0, first: 1, events: [], upTo: 0 }
  const { head, first } = thread
  const last = Math.min(head, query.task?.last ?? head)
  const from = Math.max(query.after + 1, first, query.task?.first ?? first)
  const task = query.task?.id
  const page = new LinePage({ from, last, limit: query.limit, task })
  if (from <= last && query.limit > 0) {
    let lookedLength = 0
    for (const row of connection.prepare(selectChunks).iterate(thread.n, from, last)) {
      const chunk = row as unknown as ChunkRow
      lookedLength += chunk.body.length
      if (task !== undefined && !chunk.body.includes(`\t${task}\t`)) page.skip(chunk.last)
      else page.add(chunk)
      if (page.isFull || lookedLength >= lookLengthMax) break
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
