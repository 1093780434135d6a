import { type Principal, principalOf, type ThreadKey, threadOf } from '../../core/id.ts'
import { badCursor } from '../../core/list-cursor.ts'
import type { ThreadPage, ThreadQuery, ThreadSummary } from '../store.ts'
import type { Connection } from './connection.ts'

// `listed` is `at` in larger steps, and what the index is searched and begins to be sorted by.
const selectThreads = `
  SELECT key, head, first, at FROM holdfast.threads
  WHERE principal = $1 AND listed <= $2::bigint / 5000 AND at <= $2 AND (at < $2 OR key > $3)
  ORDER BY listed DESC, at DESC, key
  LIMIT $4`

const selectNextPrincipal = `
  SELECT principal FROM holdfast.threads WHERE principal > $1 AND listed IS NOT NULL ORDER BY principal LIMIT 1`

interface ThreadRow {
  readonly key: ThreadKey
  readonly head: number
  readonly first: number
  readonly at: number
}

/** Where a page begins: after this thread. */
interface Place {
  readonly principal: Principal
  readonly at: number
  readonly thread: string
}

export async function listThreads(connection: Connection, query: ThreadQuery): Promise<ThreadPage> {
  const { principal, cursor, limit } = query
  if (principal === undefined) return listAllThreads(connection, cursor, limit)
  const place = cursor === undefined ? beginningOf(principal) : parse(principal, cursor)
  const rows = await rowsAfter(connection, place, limit + 1)
  const threads = rows.slice(0, limit).map(summary)
  const last = threads.at(-1)
  if (rows.length <= limit || !last) return { threads }
  return { threads, cursor: `${last.at}/${last.thread}` }
}

/** One principal after the other, each by the same index. */
async function listAllThreads(connection: Connection, cursor: string | undefined, limit: number): Promise<ThreadPage> {
  const rows: ThreadRow[] = []
  for (
    let place = cursor === undefined ? await nextBeginning(connection, '') : parseWithPrincipal(cursor);
    place && rows.length <= limit;
    place = await nextBeginning(connection, place.principal)
  ) {
    rows.push(...(await rowsAfter(connection, place, limit + 1 - rows.length)))
  }
  const threads = rows.slice(0, limit).map((row) => ({ principal: principalOf(row.key), ...summary(row) }))
  const last = threads.at(-1)
  if (rows.length <= limit || !last) return { threads }
  return { threads, cursor: `${last.principal}/${last.at}/${last.thread}` }
}

function rowsAfter(connection: Connection, { principal, at, thread }: Place, limit: number): Promise<ThreadRow[]> {
  return connection.query({ sql: selectThreads, values: [principal, at, `${principal}/${thread}`, limit] })
}

async function nextBeginning(connection: Connection, before: string): Promise<Place | undefined> {
  const [next] = await connection.query<{ principal: Principal }>({ sql: selectNextPrincipal, values: [before] })
  return next && beginningOf(next.principal)
}

function beginningOf(principal: Principal): Place {
  return { principal, at: Number.MAX_SAFE_INTEGER, thread: '' }
}

function summary({ key, head, first, at }: ThreadRow): ThreadSummary {
  return { thread: threadOf(key), head, first, at }
}

function parseWithPrincipal(cursor: string): Place {
  const slash = cursor.indexOf('/')
  if (slash < 1) throw badCursor()
  return parse(cursor.slice(0, slash) as Principal, cursor.slice(slash + 1))
}

function parse(principal: Principal, cursor: string): Place {
  const parts = /^([0-9]{1,16})\/([!-~]+)$/.exec(cursor)
  if (parts?.[1] === undefined || parts[2] === undefined) throw badCursor()
  return { principal, at: Number(parts[1]), thread: parts[2] }
}
