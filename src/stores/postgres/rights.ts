import { HoldfastError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import type { Location } from './location.ts'
import { schemaParts } from './schema-parts.ts'

export interface MissingRight {
  readonly missing: string
  /** Of what: a table, or one that a sequence is of, or a function; null of the schema or the database. */
  readonly part: string | null
  /** Without it nothing of the schema can be told. */
  readonly isToRead: boolean
}

// Of a sequence a commit takes numbers itself, which a right on its table does not cover.
const selectMissingRights = `
  SELECT 'CREATE on the database' AS missing, NULL AS part, false AS "isToRead"
    WHERE to_regnamespace($1) IS NULL AND NOT has_database_privilege(current_database(), 'CREATE')
  UNION ALL
  SELECT 'USAGE on the schema', NULL, true
    FROM pg_namespace n WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, 'USAGE')
  UNION ALL
  SELECT right_name || ' on ' || c.relname, c.relname, right_name = 'SELECT'
    FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) right_name
    WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' AND NOT has_table_privilege(c.oid, right_name)
  UNION ALL
  SELECT 'USAGE on ' || c.relname, coalesce(t.relname, c.relname), false FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
    LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
    LEFT JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
    WHERE c.relnamespace = to_regnamespace($1) AND NOT has_sequence_privilege(s.seqrelid, 'USAGE, UPDATE')
  UNION ALL
  SELECT 'EXECUTE on ' || p.proname, p.proname, true FROM pg_proc p
    WHERE p.pronamespace = to_regnamespace($1) AND NOT has_function_privilege(p.oid, 'EXECUTE')`

const selectMissingRightsToMigrate = `
  SELECT 'CREATE on the schema' AS missing, NULL AS part, false AS "isToRead" FROM pg_namespace n
    WHERE n.nspname = $1 AND NOT has_schema_privilege(n.oid, 'CREATE')`

/** What the user may not do of all that is in the schema. */
export function missingRights(connection: Connection, { schema }: Location): Promise<MissingRight[]> {
  return connection.query<MissingRight>({ sql: selectMissingRights, values: [schema] })
}

export function missingRightsToMigrate(connection: Connection, { schema }: Location): Promise<MissingRight[]> {
  return connection.query<MissingRight>({ sql: selectMissingRightsToMigrate, values: [schema] })
}

const shownMax = 3

/**
 * Rejects where the user may not do what a node does with what this version knows of the schema: it would start, and refuse work.
 * What others keep there, and what a newer version has added, is no concern of it.
 */
export async function checkRights(connection: Connection, place: Location): Promise<void> {
  const known = new Set(schemaParts().map(({ name }) => name))
  const rights = await missingRights(connection, place)
  const missing = rights.filter(({ part }) => part === null || known.has(part)).map((right) => right.missing)
  if (missing.length === 0) return
  const [user] = await connection.query<{ name: string }>({ sql: 'SELECT current_user AS name' })
  const more = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : ''
  const what = `${user?.name} lacks ${missing.slice(0, shownMax).join(', ')}${more}`
  throw new HoldfastError('store_unavailable', `The store ${place.name} cannot be used: ${what}. ${advice}`)
}

const advice = 'Grant it as docs/operations.md does under Upgrade, or let nodes use the user that made the schema'
