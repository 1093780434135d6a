import { pause } from './clock.ts'
import type { Connection } from './connection.ts'
import { tableNames } from './schema-parts.ts'

/** A table that somebody keeps others from. */
export interface TableLock {
  readonly table: string
  /** A process of the server, or the name of a prepared transaction. */
  readonly who: string
  readonly application: string
  /** For how long its transaction goes on; null where the user may not know. */
  readonly ageMs: number | null
  /** Nobody reads it either. */
  readonly stopsReads: boolean
  /** A process that only waits for the lock, behind which all others wait; null if `who` has it. */
  readonly waiting: string | null
}

// In this order each of the modes that are looked for conflicts with all from some place on: of several prepared transactions the one
// that comes last is in the way, if any is.
const modes = ['AccessShare', 'RowShare', 'Share', 'RowExclusive', 'ShareUpdateExclusive', 'ShareRowExclusive']
const lastFirst = [...modes, 'Exclusive', 'AccessExclusive'].reverse().map((mode) => `'${mode}Lock'`)

// Who locks an index keeps others from its table. Whoever waits for a lock has everybody else wait behind, so whom it waits for is
// who stands in the way. A prepared transaction has no process, but the lock on its own number; who waits for one waits for process 0.
const selectLocks = `
  SELECT DISTINCT coalesce(t.relname, c.relname) AS table, coalesce(p.gid, h.pid::text) AS who,
    CASE WHEN p.gid IS NULL THEN coalesce(a.application_name, '') ELSE 'prepared' END AS application,
    floor(extract(epoch FROM clock_timestamp() - coalesce(p.prepared, a.xact_start)) * 1000)::bigint AS "ageMs",
    l.mode = 'AccessExclusiveLock' AS "stopsReads", CASE WHEN NOT l.granted THEN l.pid::text END AS waiting
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
    CROSS JOIN LATERAL (SELECT CASE WHEN l.granted THEN coalesce(l.pid, 0) ELSE (pg_blocking_pids(l.pid))[1] END AS pid) h
    LEFT JOIN pg_stat_activity a ON a.pid = h.pid
    LEFT JOIN LATERAL (
      SELECT x.gid, x.prepared FROM pg_locks o
        JOIN pg_locks n ON n.pid IS NULL AND n.virtualtransaction = o.virtualtransaction AND n.locktype = 'transactionid'
        JOIN pg_prepared_xacts x ON x.transaction = n.transactionid
      WHERE o.pid IS NULL AND o.locktype = 'relation' AND o.database = l.database AND o.relation = l.relation
        AND (NOT l.granted OR o.virtualtransaction = l.virtualtransaction)
      ORDER BY array_position(ARRAY[${lastFirst.join(', ')}], o.mode) LIMIT 1
    ) p ON h.pid = 0
  WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND c.relnamespace = to_regnamespace($1) AND coalesce(t.relname, c.relname) = ANY ($2::text[])
    AND l.pid IS DISTINCT FROM pg_backend_pid()
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND (p.gid IS NOT NULL OR h.pid <> 0)
  ORDER BY "stopsReads" DESC, waiting NULLS FIRST, who, 1`

const lookCount = 5
const lookMs = 200

/** The locks on tables of a schema that last: who has one for a moment, such as a migration of little, is waited for. */
export async function lastingLocks(connection: Pick<Connection, 'query'>, schema: string): Promise<TableLock[]> {
  const values = [schema, tableNames()]
  const look = () => connection.query<TableLock>({ sql: selectLocks, values })
  let locks = await look()
  for (let n = 1; n < lookCount && locks.length > 0; n++) {
    await pause(lookMs, new AbortController().signal)
    const before = new Set(locks.map(keyOf))
    locks = (await look()).filter((lock) => before.has(keyOf(lock)))
  }
  return locks
}

function keyOf({ table, who, waiting }: TableLock): string {
  return JSON.stringify([table, who, waiting])
}
