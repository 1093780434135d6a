import { randomUUID } from 'node:crypto'
import { isHoldfastError } from '../../core/errors.ts'
import { pause } from './clock.ts'
import { connected } from './connected.ts'
import type { Connection } from './connection.ts'
import { isRefusal } from './failure.ts'
import { type Contents, readContents } from './inspect-contents.ts'
import { areLent, backendOf } from './lent-backends.ts'
import { type Location, locate } from './location.ts'
import { readSchema, readServer, type SchemaState, type ServerRow, whyUnfit } from './schema.ts'

/** What can be told of a store from outside, beside nodes at work on it and without a change to it. */
export interface StoreReport extends Facts, ServerRow {
  /** Without user and password. */
  readonly name: string
  /** Why no node starts on this server, and what to do; undefined if it is right. */
  readonly unfit: string | undefined
  /** Or why it cannot be understood. */
  readonly schema: SchemaState | { readonly refusal: string }
  /** What the user may not do and has to; empty if all is right. */
  readonly missingRights: readonly string[]
  /** A notice that is sent over one connection arrives over another. */
  readonly passesNotices: boolean
  /** Absent if there is no schema, or it may not be read. */
  readonly contents?: Contents
}

interface Facts {
  readonly user: string
  /** The server's clock. */
  readonly now: number
  readonly connectionsMax: number
  /** Kept for administrators. */
  readonly connectionsReserved: number
  readonly connectionsUsed: number
  readonly autovacuum: string
  /** How many transactions ago the oldest row was last frozen. */
  readonly transactionAge: number
  /** How much the database holds, with all schemas in it. */
  readonly bytes: number
}

// Anybody may know how many connections there are to each database; of what others are about only who administers.
const selectFacts = `
  SELECT current_user AS user, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
    current_setting('max_connections')::integer AS "connectionsMax",
    current_setting('superuser_reserved_connections')::integer
      + coalesce(current_setting('reserved_connections', true), '0')::integer AS "connectionsReserved",
    (SELECT coalesce(sum(numbackends), 1)::integer - 1 FROM pg_stat_database) AS "connectionsUsed",
    current_setting('autovacuum') AS autovacuum,
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS "transactionAge",
    pg_database_size(current_database()) AS bytes`

// Of a sequence a commit takes numbers itself, which a right on its table does not cover.
const selectMissingRights = `
  SELECT 'CREATE on the database' AS missing, false AS "isToRead"
    WHERE to_regnamespace($1) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
  UNION ALL
  SELECT 'USAGE on the schema', true FROM pg_namespace n WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, 'USAGE')
  UNION ALL
  SELECT right_name || ' on ' || c.relname, right_name = 'SELECT'
    FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) right_name
    WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' AND NOT has_table_privilege(c.oid, right_name)
  UNION ALL
  SELECT 'USAGE on ' || c.relname, false FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    WHERE c.relnamespace = to_regnamespace($1) AND NOT has_sequence_privilege(s.seqrelid, 'USAGE, UPDATE')
  UNION ALL
  SELECT 'EXECUTE on ' || p.proname, true FROM pg_proc p
    WHERE p.pronamespace = to_regnamespace($1) AND NOT has_function_privilege(p.oid, 'EXECUTE')`

const selectMissingRightsToMigrate = `
  SELECT 'CREATE on the schema' AS missing, false AS "isToRead" FROM pg_namespace n
    WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, 'CREATE')`

// As long as a node waits before it takes notices as lost.
const noticeMsMax = 3_000

/** Rejects with what keeps the server from being asked. */
export async function inspectStore(url: string): Promise<StoreReport> {
  const place = locate(url)
  return connected(place, async (connection) => {
    const server = await readServer(connection)
    const [facts] = await connection.query<Facts>({ sql: selectFacts })
    if (!facts) throw new Error('The server did not say how it is')
    const rights = await missingIn(connection, place, selectMissingRights)
    const isHidden = rights.some(({ isToRead }) => isToRead)
    const schema = isHidden ? { refusal: 'It may not be read' } : await schemaOf(connection, place)
    const isDue = 'missing' in schema && schema.missing.length > 0
    if (isDue) rights.push(...(await missingIn(connection, place, selectMissingRightsToMigrate)))
    const found = 'found' in schema ? schema.found : undefined
    return {
      ...server,
      ...facts,
      name: place.name,
      unfit: whyUnfit(server),
      schema,
      missingRights: rights.map(({ missing }) => missing),
      passesNotices: await passesNotices(place, connection),
      ...(found && { contents: await readContents(connection, place.schema, found.minor) }),
    }
  })
}

interface MissingRight {
  readonly missing: string
  /** Without it nothing of the schema can be told. */
  readonly isToRead: boolean
}

function missingIn(connection: Connection, { schema }: Location, sql: string): Promise<MissingRight[]> {
  return connection.query<MissingRight>({ sql, values: [schema] })
}

async function schemaOf(connection: Connection, place: Location): Promise<StoreReport['schema']> {
  try {
    return await readSchema(connection, place)
  } catch (error) {
    if (isHoldfastError(error, 'store_schema')) return { refusal: error.message }
    throw error
  }
}

/** Listens over a connection of its own, on a channel that nobody else uses. */
async function passesNotices(place: Location, sender: Connection): Promise<boolean> {
  const channel = `holdfast_${randomUUID().replaceAll('-', '')}`
  const waiting = new AbortController()
  return connected(place, async (receiver) => {
    const isLent = await areLent(
      () => backendOf(receiver),
      () => backendOf(sender),
    )
    // What listens would stay behind with the pooler.
    if (isLent) return false
    const heard = new Promise<true>((resolve) => receiver.onNotice(() => resolve(true)))
    try {
      await receiver.query({ sql: `LISTEN ${channel}` })
      await sender.query({ sql: 'SELECT pg_notify($1, $2)', values: [channel, 'heard'] })
    } catch (error) {
      if (isRefusal(error)) return false
      throw error
    }
    const late = pause(noticeMsMax, waiting.signal).then(() => false)
    return Promise.race([heard, late]).finally(() => waiting.abort())
  })
}
