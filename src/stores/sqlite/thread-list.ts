import { type ThreadKey, threadOf } from '../../core/id.ts'
import type { ThreadPage, ThreadQuery } from '../store.ts'
import type { Connection } from './connection.ts'
import { badCursor } from './cursor.ts'

// The first condition on `at` is what the index is searched by.
const selectThreads = `
  SELECT key, head, first, at FROM threads INDEXED BY threads_by_newest
  WHERE principal = ?1 AND head >= first AND at <= ?2 AND (at < ?2 OR key > ?3)
  ORDER BY at DESC, key
  LIMIT ?4`

interface ThreadRow {
  readonly key: ThreadKey
  readonly head: number
  readonly first: number
  readonly at: number
}

export function listThreads(connection: Connection, query: ThreadQuery): ThreadPage {
  const { principal, cursor, limit } = query
  const after = cursor === undefined ? { at: Number.MAX_SAFE_INTEGER, thread: '' } : parseCursor(cursor)
  const key = `${principal}/${after.thread}`
  const rows = connection.all<ThreadRow>(selectThreads, principal, after.at, key, limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const threads = page.map(({ key, head, first, at }) => ({ thread: threadOf(key), head, first, at }))
  if (rows.length <= limit || !last) return { threads }
  return { threads, cursor: `${last.at}/${threadOf(last.key)}` }
}

function parseCursor(cursor: string): { readonly at: number; readonly thread: string } {
  const parts = /^([0-9]{1,16})\/(.+)$/.exec(cursor)
  if (parts?.[1] === undefined || parts[2] === undefined) throw badCursor()
  return { at: Number(parts[1]), thread: parts[2] }
}
