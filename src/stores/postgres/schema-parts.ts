import type { Connection } from './connection.ts'
import { type Migration, migrations, migrationText } from './migrations.ts'

/** What a migration makes, and a node relies on. */
export interface SchemaPart {
  readonly kind: 'table' | 'function' | 'unique index' | 'index'
  readonly name: string
  /** Of an index. */
  readonly table?: string
  /** The name of the migration that makes it. */
  readonly migration: string
}

/** What the migrations up to a minor make, as they say it: migrations only add, so all of it is there for good. */
export function schemaParts(minor = Number.POSITIVE_INFINITY): SchemaPart[] {
  return migrations()
    .filter(({ number }) => number <= minor)
    .flatMap(partsOf)
}

function partsOf(migration: Migration): SchemaPart[] {
  const text = migrationText(migration)
  const common = { migration: migration.name }
  const functions = [...text.matchAll(/^ *CREATE FUNCTION holdfast\.(\w+)/gm)]
  const tables = [...text.matchAll(/^ *CREATE TABLE holdfast\.(\w+) (\(.*?;)$/gms)]
  const indexes = [...text.matchAll(/^ *CREATE (UNIQUE )?INDEX (\w+) ON holdfast\.(\w+)/gm)]
  return [
    ...functions.map(([, name = '']) => ({ ...common, kind: 'function' as const, name })),
    ...tables.flatMap(([, table = '', body = '']) => [
      { ...common, kind: 'table' as const, name: table },
      ...keysOf(table, body).map((name) => ({ ...common, kind: 'unique index' as const, name, table })),
    ]),
    ...indexes.map(([, unique, name = '', table = '']) => {
      return { ...common, kind: unique ? ('unique index' as const) : ('index' as const), name, table }
    }),
  ]
}

/** The indexes that a table has by its definition, by the names that the server gives them. */
function keysOf(table: string, body: string): string[] {
  const unique = [...body.matchAll(/^ +(\w+) .*\bUNIQUE\b/gm)].map(([, column]) => `${table}_${column}_key`)
  return /\bPRIMARY KEY\b/.test(body) ? [`${table}_pkey`, ...unique] : unique
}

const selectNames = `
  SELECT 'relation ' || relname AS name FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace($1)
  UNION ALL
  SELECT 'function ' || proname FROM pg_catalog.pg_proc WHERE pronamespace = to_regnamespace($1)`

/** What a schema of a minor should have and does not; of a table that is gone not its indexes too. */
export async function lackingParts(connection: Connection, schema: string, minor: number): Promise<SchemaPart[]> {
  const rows = await connection.query<{ name: string }>({ sql: selectNames, values: [schema] })
  const names = new Set(rows.map(({ name }) => name))
  return schemaParts(minor).filter(({ kind, name, table }) => {
    const isThere = names.has(`${kind === 'function' ? kind : 'relation'} ${name}`)
    return !isThere && (table === undefined || names.has(`relation ${table}`))
  })
}

const shownMax = 3

/** Which parts a schema lacks, and what to do; undefined if there is nothing that a node cannot work without. */
export function whyLacking(parts: readonly SchemaPart[]): string | undefined {
  const needed = parts.filter(({ kind }) => kind !== 'index')
  if (needed.length === 0) return undefined
  const shown = needed.slice(0, shownMax).map(({ kind, name, migration }) => `the ${kind} ${name} of ${migration}`)
  const more = needed.length > shownMax ? ` and ${needed.length - shownMax} more` : ''
  const what = `${shown.join(', ')}${more}`
  // What a table held is not made again.
  if (needed.some(({ kind }) => kind === 'table')) return `${what}. Restore it from a copy`
  return `${what}. Make ${needed.length === 1 ? 'it' : 'them'} again as there, or restore the store from a copy`
}
