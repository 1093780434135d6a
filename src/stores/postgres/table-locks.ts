import { pause } from './clock.ts'
import type { Connection } from './connection.ts'

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

// Who locks an index keeps others from its table. Whoever waits for a lock has everybody else wait behind, so whom it waits for is
// who stands in the way. A prepared transaction has no process, but the lock on its own number.
const selectLocks = `
  SELECT DISTINCT coalesce(t.relname, c.relname) AS table, coalesce(p.gid, h.pid::text, '') AS who,
    CASE WHEN h.pid IS NULL THEN 'prepared' ELSE coalesce(a.application_name, '') END AS application,
    floor(extract(epoch FROM clock_timestamp() - coalesce(p.prepared, a.xact_start)) * 1000)::bigint AS "ageMs",
    l.mode = 'AccessExclusiveLock' AS "stopsReads", CASE WHEN NOT l.granted THEN l.pid::text END AS waiting
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    LEFT JOIN pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = i.indrelid
    CROSS JOIN LATERAL (
      SELECT CASE WHEN l.granted THEN l.pid ELSE coalesce(nullif((pg_blocking_pids(l.pid))[1], 0), l.pid) END AS pid
    ) h
    LEFT JOIN pg_stat_activity a ON a.pid = h.pid
    LEFT JOIN pg_locks x ON l.pid IS NULL AND x.pid IS NULL AND x.virtualtransaction = l.virtualtransaction AND x.locktype = 'transactionid'
    LEFT JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
  WHERE l.locktype = 'relation' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND c.relnamespace = to_regnamespace($1) AND l.pid IS DISTINCT FROM pg_backend_pid()
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  ORDER BY "stopsReads" DESC, waiting NULLS FIRST, who, 1`

const lookCount = 5
const lookMs = 200

/** The locks on tables of a schema that last: who has one for a moment, such as a migration of little, is waited for. */
export async function lastingLocks(connection: Connection, schema: string): Promise<TableLock[]> {
  let locks: TableLock[] = []
  for (let n = 0; n < lookCount; n++) {
    if (n > 0) await pause(lookMs, new AbortController().signal)
    locks = await connection.query<TableLock>({ sql: selectLocks, values: [schema] })
    if (locks.length === 0) return locks
  }
  return locks
}
