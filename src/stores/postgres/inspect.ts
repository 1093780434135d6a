import { randomUUID } from 'node:crypto'
import { isHoldfastError } from '../../core/errors.ts'
import { pause } from './clock.ts'
import { connected } from './connected.ts'
import type { Connection } from './connection.ts'
import { isCutShort, isRefusal } from './failure.ts'
import { type Contents, readContents } from './inspect-contents.ts'
import { areLent, backendOf } from './lent-backends.ts'
import { type Location, locate } from './location.ts'
import { missingRights, missingRightsToMigrate } from './rights.ts'
import { readSchema, readServer, type SchemaState, type ServerRow, whyUnfit } from './schema.ts'
import { missingSettings } from './session-settings.ts'
import { lastingLocks, type TableLock } from './table-locks.ts'

/**
 * What can be told of a store from outside, beside nodes at work on it and without a change to it. Absent is what could not be read in
 * some seconds.
 */
export interface StoreReport extends Facts, ServerRow {
  /** Without user and password. */
  readonly name: string
  /** Why no node starts on this server, and what to do; undefined if it is right. */
  readonly unfit: string | undefined
  /** Or why it cannot be understood; absent too if the table is locked that says it. */
  readonly schema?: SchemaState | { readonly refusal: string }
  /** What the user may not do and has to; empty if all is right. */
  readonly missingRights?: readonly string[]
  /** A notice that is sent over one connection arrives over another. */
  readonly passesNotices: boolean
  /** A pooler stands between, so nodes set nothing on their connections. */
  readonly isPooled: boolean
  /** What the server does not set for them there, as SQL that has it do so. */
  readonly missingSettings: readonly string[]
  /** Those of its tables that others are kept from for long. */
  readonly locks: readonly TableLock[]
  /** The oldest transaction that goes on, of whoever. Rows that it may still see cannot be removed. */
  readonly oldestTransaction?: OldTransaction
  /** Absent too if there is no schema, or it may not be read, or a table is locked. */
  readonly contents?: Contents
  /** How much the database holds, with all schemas in it. */
  readonly bytes?: number
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
}

// Anybody may know how many connections there are to each database; of what others are about only who administers.
const selectFacts = `
  SELECT current_user AS user, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
    current_setting('max_connections')::integer AS "connectionsMax",
    current_setting('superuser_reserved_connections')::integer
      + coalesce(current_setting('reserved_connections', true), '0')::integer AS "connectionsReserved",
    (SELECT coalesce(sum(numbackends), 1)::integer - 1 FROM pg_stat_database) AS "connectionsUsed",
    current_setting('autovacuum') AS autovacuum,
    (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS "transactionAge"`

// It goes through the files of all tables.
const selectBytes = 'SELECT pg_database_size(current_database()) AS bytes'

interface OldTransaction {
  /** A process of the server, or the name of a prepared transaction. */
  readonly who: string
  readonly application: string
  readonly ageMs: number
}

const selectOldest = `
  SELECT who, application, floor(extract(epoch FROM clock_timestamp() - since) * 1000)::bigint AS "ageMs" FROM (
    SELECT pid::text AS who, coalesce(application_name, '') AS application, xact_start AS since FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
    UNION ALL
    SELECT gid, 'prepared', prepared FROM pg_prepared_xacts WHERE database = current_database()
  ) t WHERE since IS NOT NULL ORDER BY since LIMIT 1`

// As long as a node waits before it takes notices as lost.
const noticeMsMax = 3_000

/**
 * Rejects with what keeps the server from being asked. What the server says of itself comes before what its tables say, which others
 * may have locked. `leaseMs` is that of the nodes.
 */
export async function inspectStore(url: string, leaseMs?: number): Promise<StoreReport> {
  const place = locate(url)
  return connected(place, async (connection) => {
    const server = await readServer(connection)
    const [facts] = await connection.query<Facts>({ sql: selectFacts })
    if (!facts) throw new Error('The server did not say how it is')
    const [oldest] = await connection.query<OldTransaction>({ sql: selectOldest })
    const locks = await lastingLocks(connection, place.schema)
    const notices = await passesNotices(place, connection)
    const settings = connection.isPooled ? await missingSettings(connection, leaseMs) : []
    const rights = await unlessLate(connection, () => missingRights(connection, place))
    const isHidden = rights?.some(({ isToRead }) => isToRead)
    const schema = isHidden ? { refusal: 'It may not be read' } : await schemaOf(connection, place, locks)
    const isDue = schema && 'missing' in schema && schema.missing.length > 0
    const toMigrate = isDue && (await unlessLate(connection, () => missingRightsToMigrate(connection, place)))
    if (toMigrate) rights?.push(...toMigrate)
    const isThere = schema && 'found' in schema && schema.found
    const contents = isThere && (await contentsOf(connection, place, locks))
    const size = await unlessLate(connection, () => connection.query<{ bytes: number }>({ sql: selectBytes }))
    return {
      ...server,
      ...facts,
      name: place.name,
      unfit: whyUnfit(server),
      ...(schema && { schema }),
      ...(rights && { missingRights: rights.map(({ missing }) => missing) }),
      passesNotices: notices,
      isPooled: connection.isPooled,
      missingSettings: settings,
      locks,
      ...(oldest && { oldestTransaction: oldest }),
      ...(contents && { contents }),
      ...size?.[0],
    }
  })
}

/** Undefined if it takes too long; where that has cost the connection, so is all that is asked of it afterwards. */
async function unlessLate<Value>(connection: Connection, read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read()
  } catch (error) {
    if (connection.isSilent || isCutShort(error)) return undefined
    throw error
  }
}

async function schemaOf(
  connection: Connection,
  place: Location,
  locks: readonly TableLock[],
): Promise<StoreReport['schema']> {
  if (locks.some(({ table, stopsReads }) => stopsReads && table === 'meta')) return undefined
  try {
    return await unlessLate(connection, () => readSchema(connection, place))
  } catch (error) {
    if (isHoldfastError(error, 'store_schema')) return { refusal: error.message }
    throw error
  }
}

/** To ask for the size of a table needs it as much as to read it. */
async function contentsOf(
  connection: Connection,
  { schema }: Location,
  locks: readonly TableLock[],
): Promise<Contents | undefined> {
  if (locks.some(({ stopsReads }) => stopsReads)) return undefined
  return unlessLate(connection, () => readContents(connection, schema))
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
