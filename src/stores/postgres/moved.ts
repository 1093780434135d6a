import type { ThreadKey } from '../../core/id.ts'
import type { ThreadPlace } from '../store.ts'
import type { Connection } from './connection.ts'

// The planner is not asked whether to read the whole table: it is asked for a few threads among any number, over and over.
const selectMoved = `
  SELECT w.key, coalesce(t.head, 0)::bigint AS head, coalesce(t.rev, 0)::bigint AS rev
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS w (key, head, rev)
  LEFT JOIN LATERAL (SELECT t.head, t.rev FROM holdfast.threads t WHERE t.key = w.key LIMIT 1) t ON true
  WHERE (coalesce(t.head, 0), coalesce(t.rev, 0)) <> (w.head, w.rev)`

interface MovedRow {
  readonly key: ThreadKey
  readonly head: number
  readonly rev: number
}

// Asked every second: one that is not answered by then is better asked again, over another connection.
const timeoutMs = 5_000

export async function readMoved(connection: Connection, places: readonly ThreadPlace[]): Promise<ThreadPlace[]> {
  const values = [places.map(({ key }) => key), places.map(({ head }) => head), places.map(({ rev }) => rev)]
  return connection.query<MovedRow>({ name: 'moved', sql: selectMoved, values, timeoutMs })
}
