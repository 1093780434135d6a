import { HoldfastError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import type { Location } from './location.ts'
import { type Migration, migrations, migrationText } from './migrations.ts'
import { type SchemaPart, schemaDifference, schemaParts, whyUnusable } from './schema-parts.ts'

/**
 * The schema has a version. The minor is the number of the last migration; within a major, migrations only add, so a
 * program works on a newer minor. A newer major it cannot understand, and refuses.
 */
export interface SchemaVersion {
  readonly major: number
  readonly minor: number
}

const major = 1

// Of all stores in all databases of a server; taken for a moment, so it does not matter that they share it.
const migrationLock = 4_747_000_001

/**
 * Brings the schema up to date, in one transaction under a lock, so that nodes that start together do it once. It looks
 * first, because most starts find nothing to do. Rejects with `store_schema` if there is something it may not do, or does
 * not understand.
 */
export async function migrate(connection: Connection, place: Location, mayMigrate: boolean): Promise<void> {
  const { missing } = await lookAt(connection, place)
  if (missing.length === 0) return
  if (!mayMigrate) throw refusal(`The store ${place.name} lacks migration ${missing[0]?.name}. Let it migrate first`)
  // What was made while it waited for the lock has to be seen, whatever the database has for a default.
  await connection.run('BEGIN ISOLATION LEVEL READ COMMITTED')
  try {
    await connection.run(migrationSettings)
    await connection.query({ sql: 'SELECT pg_advisory_xact_lock($1)', values: [migrationLock], timeoutMs: 0 })
    await apply(connection, place, (await lookAt(connection, place)).missing)
    await connection.run('COMMIT')
  } catch (error) {
    if (!connection.isLost) await connection.run('ROLLBACK')
    throw error
  }
}

// It waits for the lock and for tables however long it takes; but one whose node is frozen lets go of them.
// Not every version of PostgreSQL has all of them.
const migrationSettings = `SELECT set_config(s.name, s.value, true)
  FROM (VALUES ('lock_timeout', '0'), ('statement_timeout', '0'), ('transaction_timeout', '0'),
    ('idle_in_transaction_session_timeout', '60000')) AS s (name, value)
  WHERE current_setting(s.name, true) IS NOT NULL`

const selectSchema = 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1'

async function apply(connection: Connection, place: Location, missing: readonly Migration[]): Promise<void> {
  const minor = missing.at(-1)?.number
  if (minor === undefined) return
  // To make one needs a right on the database even where there is one already.
  const [schema] = await connection.query({ sql: selectSchema, values: [place.schema] })
  if (!schema) await connection.run(`CREATE SCHEMA ${place.schema}`)
  for (const migration of missing) await connection.run(migrationText(migration))
  await connection.query({ sql: 'UPDATE holdfast.meta SET major = $1, minor = $2', values: [major, minor] })
}

interface Look {
  readonly found: SchemaVersion | undefined
  readonly missing: readonly Migration[]
  /** Indexes without which a node works, and is slow. */
  readonly lacking: readonly SchemaPart[]
}

async function lookAt(connection: Connection, place: Location): Promise<Look> {
  const found = await readVersion(connection, place)
  if (found && found.major > major) {
    throw refusal(
      `The store ${place.name} has schema ${found.major}.${found.minor}, newer than ${major}. Upgrade Holdfast`,
    )
  }
  const lacking = found ? await checkParts(connection, place, found) : []
  return { found, missing: migrations().filter(({ number }) => number > (found?.minor ?? 0)), lacking }
}

/**
 * A schema that lost something would refuse some of the work, or what keeps two nodes from writing the same would be gone; one whose
 * functions do something else would fail amid the work. What else it lacks is told.
 */
async function checkParts(
  connection: Connection,
  place: Location,
  { minor }: SchemaVersion,
): Promise<readonly SchemaPart[]> {
  const difference = await schemaDifference(connection, place.schema, minor)
  const why = whyUnusable(difference)
  if (why) throw refusal(`The store ${place.name} ${why}`)
  return difference.lacking
}

export interface SchemaState {
  /** Undefined if there is none. */
  readonly found: SchemaVersion | undefined
  readonly newest: SchemaVersion
  /** The names of the migrations that are due, in their order. */
  readonly missing: readonly string[]
  /** Those without which all is slow, each with the migration that makes it. */
  readonly missingIndexes: readonly string[]
}

/** What schema a store has, and what it lacks. Rejects as migrating does. */
export async function readSchema(connection: Connection, place: Location): Promise<SchemaState> {
  const { found, missing, lacking } = await lookAt(connection, place)
  return {
    found,
    newest: { major, minor: migrations().at(-1)?.number ?? 0 },
    missing: missing.map(({ name }) => name),
    missingIndexes: lacking.map(({ name, migration }) => `${name} of ${migration}`),
  }
}

const selectTables = 'SELECT tablename AS name FROM pg_catalog.pg_tables WHERE schemaname = $1'

const metaAdvice = 'the table meta, which says its schema. Restore it from a copy'

/** The version of the schema, or undefined if there is none. */
async function readVersion(connection: Connection, place: Location): Promise<SchemaVersion | undefined> {
  const tables = await connection.query<{ name: string }>({ sql: selectTables, values: [place.schema] })
  if (tables.length === 0) return undefined
  const names = new Set(tables.map(({ name }) => name))
  if (!names.has('meta')) {
    const others = schemaParts(1).filter(({ kind, name }) => kind === 'table' && name !== 'meta')
    if (others.every(({ name }) => names.has(name))) throw refusal(`The store ${place.name} lacks ${metaAdvice}`)
    throw refusal(`The schema ${place.schema} of ${place.name} is another program's. Name another with ?schema=NAME`)
  }
  const [version] = await connection.query<SchemaVersion>({ sql: 'SELECT major, minor FROM holdfast.meta' })
  if (version) return version
  throw refusal(`The store ${place.name} does not say its schema. Restore it from a copy`)
}

function refusal(message: string): HoldfastError {
  return new HoldfastError('store_schema', message)
}

const versionMin = 140_000

const selectServer = `
  SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS "versionText",
    current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isReplica",
    current_setting('default_transaction_read_only') = 'on' AS "isReadOnly"`

export interface ServerRow {
  readonly version: number
  readonly versionText: string
  readonly fsync: string
  readonly synchronousCommit: string
  readonly encoding: string
  readonly isReplica: boolean
  readonly isReadOnly: boolean
}

/** Rejects unless the server keeps what it has acknowledged, and is one that we know how to talk to. */
export async function checkServer(connection: Connection, { name }: Location): Promise<void> {
  const why = whyUnfit(await readServer(connection))
  if (why) throw new HoldfastError('store_unavailable', `The store ${name} cannot be used: ${why}`)
}

export async function readServer(connection: Connection): Promise<ServerRow> {
  const [server] = await connection.query<ServerRow>({ sql: selectServer })
  if (!server) throw new Error('The server did not say what it is')
  return server
}

const readOnlyAdvice =
  'Turn it off for this user or database; a provider may have turned it on because the disk is full'

/** Why a server cannot be used, and what to do. */
export function whyUnfit(server: ServerRow): string | undefined {
  if (server.version < versionMin) return `PostgreSQL ${server.versionText} is too old. Use 14 or newer`
  if (server.isReplica) return 'it is a replica. Name the primary'
  if (server.isReadOnly) return `default_transaction_read_only is on, so it takes no writes. ${readOnlyAdvice}`
  if (server.encoding !== 'UTF8') return `its encoding is ${server.encoding}. Create the database with ENCODING 'UTF8'`
  if (server.fsync !== 'on') return 'fsync is off, so a crash would lose what was acknowledged. Turn it on'
  if (server.synchronousCommit !== 'off') return undefined
  return 'synchronous_commit is off, so a crash would lose what was acknowledged. Turn it on for this user or database'
}
