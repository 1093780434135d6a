import { readdirSync, readFileSync } from 'node:fs'
import { HoldfastError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'

/**
 * The schema has a version. The minor is the number of the last migration; within a major, migrations only add, so a
 * program works on a newer minor. A newer major it cannot understand, and refuses.
 */
export interface SchemaVersion {
  readonly major: number
  readonly minor: number
}

const major = 1
const folder = new URL('./migrations/', import.meta.url)

/** What schema a file has, what this program brings it to, and what it lacks until then. */
export interface SchemaState {
  /** Absent for an empty file. */
  readonly found?: SchemaVersion
  readonly newest: SchemaVersion
  readonly missing: readonly Migration[]
}

/** Reads without a change. Throws `store_schema` for the file of another program, or of a newer major. */
export function readSchema(connection: Connection, path: string): SchemaState {
  const found = readVersion(connection, path)
  if (found && found.major > major) {
    const message = `The store ${path} has schema ${found.major}.${found.minor}, newer than ${major}. Upgrade Holdfast`
    throw new HoldfastError('store_schema', message)
  }
  const known = migrations()
  const missing = known.filter((migration) => migration.number > (found?.minor ?? 0))
  return { ...(found && { found }), newest: { major, minor: known.at(-1)?.number ?? 0 }, missing }
}

/**
 * Checks that the file holds a schema we understand, or none, before anything of it is changed. Says what it lacks;
 * throws `store_schema` if it lacks something and may not be migrated.
 */
export function checkSchema(connection: Connection, path: string, mayMigrate: boolean): readonly Migration[] {
  const { missing } = readSchema(connection, path)
  if (missing.length === 0 || mayMigrate) return missing
  const message = `The store ${path} lacks migration ${missing[0]?.name}. Let it migrate first`
  throw new HoldfastError('store_schema', message)
}

/** Writes what the schema lacks. It writes even if that is nothing, so that a file that cannot be written to shows. */
export function migrate(connection: Connection, missing: readonly Migration[]): void {
  const minor = missing.at(-1)?.number ?? 0
  connection.transaction('BEGIN IMMEDIATE', () => {
    for (const { name } of missing) connection.exec(readFileSync(new URL(name, folder), 'utf8'))
    connection.run('UPDATE holdfast_meta SET major = ?1, minor = ?2 WHERE minor < ?2', major, minor)
  })
}

/** The version of the schema, or undefined for an empty file. */
function readVersion(connection: Connection, path: string): SchemaVersion | undefined {
  const tables = connection.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
  if (tables.length === 0) return undefined
  if (!tables.some((table) => table.name === 'holdfast_meta')) {
    throw new HoldfastError('store_schema', `The database ${path} is another program's. Name another file`)
  }
  const version = connection.get<SchemaVersion>('SELECT major, minor FROM holdfast_meta')
  if (version) return version
  throw new HoldfastError('store_schema', `The store ${path} does not say its schema. Restore it from a copy`)
}

export interface Migration {
  readonly number: number
  readonly name: string
}

function migrations(): Migration[] {
  const names = readdirSync(folder).filter((name) => /^[0-9]{4}_.*\.sql$/.test(name))
  return names.sort().map((name) => ({ number: Number(name.slice(0, 4)), name }))
}
