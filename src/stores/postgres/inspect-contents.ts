import { fromColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import { tableNames } from './schema-parts.ts'

/** What a database keeps of Holdfast, and how it fares. */
export interface Contents {
  /** Largest first. */
  readonly tables: readonly TableSize[]
  readonly invalidIndexes: readonly string[]
  /** How many nodes have a lease now. */
  readonly nodeCount: number
  /** Tasks that belong to nodes without a lease: they are to be resumed. */
  readonly orphanCount: number
  /** Those of them that need a node with their agent, by agent, those left for longest first. */
  readonly orphans: readonly Orphans[]
  /** Tasks that could be started, by agent, those that wait for longest first. */
  readonly waiting: readonly Waiting[]
  /** The instant of the newest event, if there is any. */
  readonly newestAt?: number
}

export interface TableSize {
  readonly name: string
  readonly bytes: number
  readonly liveRows: number
  readonly deadRows: number
}

export interface Orphans {
  readonly agent: string
  readonly count: number
  /** When the first of their leases was over; of a node that is forgotten, when it started the first of them. */
  readonly sinceAt: number
}

export interface Waiting {
  readonly agent: string
  readonly count: number
  readonly oldestAt: number
}

const selectTables = `
  SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes,
    coalesce(s.n_live_tup, 0) AS "liveRows", coalesce(s.n_dead_tup, 0) AS "deadRows"
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
  WHERE c.relnamespace = to_regnamespace($1) AND c.relname = ANY ($2::text[]) AND c.relkind = 'r' ORDER BY bytes DESC`

const selectInvalid = `
  SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE t.relnamespace = to_regnamespace($1) AND t.relname = ANY ($2::text[]) AND NOT i.indisvalid ORDER BY 1`

const isLive = 'l.until_at > holdfast.clock_ms()'

const selectCounts = `
  SELECT (SELECT count(*) FROM holdfast.nodes l WHERE ${isLive}) AS "nodeCount",
    (SELECT count(*) FROM holdfast.tasks t
      WHERE (t.status = 'running' OR (t.status = 'pending' AND t.closure))
        AND NOT EXISTS (SELECT FROM holdfast.nodes l WHERE l.id = t.node AND ${isLive})) AS "orphanCount",
    (SELECT max(at) FROM holdfast.threads) AS "newestAt"`

// Who was asked to stop, or has only to close, is ended by any node.
const selectOrphans = `
  SELECT coalesce(t.agent, '') AS agent, count(*) AS count, min(coalesce(l.until_at, t.started_at, t.created_at)) AS "sinceAt"
  FROM holdfast.tasks t LEFT JOIN holdfast.nodes l ON l.id = t.node
  WHERE t.status = 'running' AND NOT t.closure AND t.cancel_requested_at IS NULL AND (${isLive}) IS NOT TRUE
  GROUP BY t.agent ORDER BY "sinceAt" LIMIT 10`

const selectWaiting = `
  SELECT coalesce(t.agent, '') AS agent, count(*) AS count, min(t.created_at) AS "oldestAt" FROM holdfast.tasks t
  WHERE t.status = 'pending' AND t.ready AND NOT t.closure GROUP BY t.agent ORDER BY "oldestAt" LIMIT 10`

interface Counts {
  readonly nodeCount: number
  readonly orphanCount: number
  readonly newestAt: number | null
}

export async function readContents(connection: Connection, schema: string): Promise<Contents> {
  const values = [schema, tableNames()]
  const tables = await connection.query<TableSize>({ sql: selectTables, values })
  const invalid = await connection.query<{ name: string }>({ sql: selectInvalid, values })
  const [counts] = await connection.query<Counts>({ sql: selectCounts })
  const orphans = await connection.query<Orphans>({ sql: selectOrphans })
  const waiting = await connection.query<Waiting>({ sql: selectWaiting })
  const { nodeCount = 0, orphanCount = 0, newestAt = null } = counts ?? {}
  return {
    tables,
    invalidIndexes: invalid.map(({ name }) => name),
    nodeCount,
    orphanCount,
    orphans: orphans.map(named),
    waiting: waiting.map(named),
    ...(newestAt !== null && { newestAt }),
  }
}

function named<Row extends { readonly agent: string }>(row: Row): Row {
  return { ...row, agent: fromColumn(row.agent) }
}
