import { createHash } from 'node:crypto'
import { type Connection, inSchema } from './connection.ts'
import { type Migration, migrations, migrationText } from './migrations.ts'

/** What a migration makes, and a node relies on. */
export interface SchemaPart {
  readonly kind: 'table' | 'function' | 'unique index' | 'index'
  readonly name: string
  /** Of an index. */
  readonly table?: string
  /** Of a function: what it is given, by the names of the catalog, and what it does. */
  readonly takes?: string
  readonly body?: string
  /** The name of the migration that makes it. */
  readonly migration: string
}

/** What the migrations up to a minor make, as they say it: migrations only add, so all of it is there for good, and as it was made. */
export function schemaParts(minor = Number.POSITIVE_INFINITY): SchemaPart[] {
  return migrations()
    .filter(({ number }) => number <= minor)
    .flatMap(partsOf)
}

/** The tables of Holdfast, of all that may be in its schema. */
export function tableNames(): string[] {
  const tables = schemaParts().filter(({ kind }) => kind === 'table')
  return tables.map(({ name }) => name)
}

const functionPattern =
  /^ *CREATE FUNCTION holdfast\.(\w+)\(([^)]*)\)\s+RETURNS\b.*?\bAS\s+(?:\$\$(.*?)\$\$|'([^']*)');/gms

function partsOf(migration: Migration): SchemaPart[] {
  const text = migrationText(migration)
  const common = { migration: migration.name }
  const functions = [...text.matchAll(functionPattern)]
  const tables = [...text.matchAll(/^ *CREATE TABLE holdfast\.(\w+) (\(.*?;)$/gms)]
  const indexes = [...text.matchAll(/^ *CREATE (UNIQUE )?INDEX (\w+) ON holdfast\.(\w+)/gm)]
  return [
    ...functions.map(([, name = '', given = '', body, line = '']) => {
      return { ...common, kind: 'function' as const, name, takes: inCatalog(given), body: body ?? line }
    }),
    ...tables.flatMap(([, table = '', body = '']) => [
      { ...common, kind: 'table' as const, name: table },
      ...keysOf(table, body).map((name) => ({ ...common, kind: 'unique index' as const, name, table })),
    ]),
    ...indexes.map(([, unique, name = '', table = '']) => {
      return { ...common, kind: unique ? ('unique index' as const) : ('index' as const), name, table }
    }),
  ]
}

// What SQL calls otherwise than the catalog does.
const catalogNames: Readonly<Record<string, string>> = { bigint: 'int8', integer: 'int4', 'double precision': 'float8' }

/** The arguments of a function, with the types as the catalog has them, where a session's settings change nothing. */
function inCatalog(given: string): string {
  const all = [...given.matchAll(/(\w+)\s+([\w ]+)(\[\])?/g)]
  return all
    .map(([, name, type = '', isArray]) => `${name} ${isArray ? '_' : ''}${catalogNames[type] ?? type}`)
    .join(', ')
}

/** The indexes that a table has by its definition, by the names that the server gives them. */
function keysOf(table: string, body: string): string[] {
  const unique = [...body.matchAll(/^ +(\w+) .*\bUNIQUE\b/gm)].map(([, column]) => `${table}_${column}_key`)
  return /\bPRIMARY KEY\b/.test(body) ? [`${table}_pkey`, ...unique] : unique
}

// How the server writes arguments out hangs on settings of the session: quotes, and which names need a schema before them.
// What ends a line is a matter of the machine that the migrations were read on.
const selectParts = `
  SELECT 'relation ' || relname AS name, NULL AS digest FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace($1)
  UNION ALL
  SELECT 'function ' || p.proname || '(' || coalesce((
      SELECT string_agg(concat_ws(' ', p.proargnames[a.n], t.typname), ', ' ORDER BY a.n)
      FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, n) JOIN pg_catalog.pg_type t ON t.oid = a.type
    ), '') || ')', encode(sha256(convert_to(replace(p.prosrc, chr(13), ''), 'UTF8')), 'hex')
  FROM pg_catalog.pg_proc p WHERE p.pronamespace = to_regnamespace($1)`

/** How a schema differs from what the migrations make. */
export interface SchemaDifference {
  /** What is not there; of a table that is gone not its indexes too. */
  readonly lacking: readonly SchemaPart[]
  /** Functions that do something else. */
  readonly changed: readonly SchemaPart[]
}

/** How a schema of a minor differs. What is there beside, as a newer minor adds it, is no difference. */
export async function schemaDifference(
  connection: Connection,
  schema: string,
  minor: number,
): Promise<SchemaDifference> {
  const rows = await connection.query<{ name: string; digest: string | null }>({ sql: selectParts, values: [schema] })
  const found = new Map(rows.map(({ name, digest }) => [name, digest]))
  const parts = schemaParts(minor)
  return {
    lacking: parts.filter((part) => {
      const { table } = part
      return !found.has(keyOf(part)) && (table === undefined || found.has(`relation ${table}`))
    }),
    changed: parts.filter((part) => {
      const digest = found.get(keyOf(part))
      return digest != null && part.body !== undefined && digest !== digestOf(part.body, schema)
    }),
  }
}

function keyOf({ kind, name, takes }: SchemaPart): string {
  return kind === 'function' ? `function ${name}(${takes})` : `relation ${name}`
}

function digestOf(body: string, schema: string): string {
  return createHash('sha256').update(inSchema(body, schema).replaceAll('\r', '')).digest('hex')
}

/** Why no node works on a schema that differs, and what to do; undefined if there is nothing that it cannot work without. */
export function whyUnusable({ lacking, changed }: SchemaDifference): string | undefined {
  const needed = lacking.filter(({ kind }) => kind !== 'index')
  if (needed.length > 0) return `lacks ${named(needed)}. ${adviceOnLacking(needed)}`
  if (changed.length === 0) return undefined
  const why = `which ${changed.length === 1 ? 'was' : 'were'} changed by hand, or made by a version that was never released`
  const advice = `Make ${themOf(changed)} again as there, with CREATE OR REPLACE, or restore the store or make it anew`
  return `has other code in ${named(changed)}, ${why}. ${advice}`
}

function adviceOnLacking(needed: readonly SchemaPart[]): string {
  // What a table held is not made again.
  if (needed.some(({ kind }) => kind === 'table')) return 'Restore it from a copy'
  return `Make ${themOf(needed)} again as there, or restore the store from a copy`
}

function themOf({ length }: readonly SchemaPart[]): string {
  return length === 1 ? 'it' : 'them'
}

const shownMax = 3

function named(parts: readonly SchemaPart[]): string {
  const shown = parts.slice(0, shownMax).map(({ kind, name, migration }) => `the ${kind} ${name} of ${migration}`)
  return `${shown.join(', ')}${parts.length > shownMax ? ` and ${parts.length - shownMax} more` : ''}`
}
