import type { TestSchema } from './schema.ts'

/**
 * Remembers what a store holds, as a dump does, and returns what puts the store back to that in one moment, as a restore does that
 * nodes are not stopped for.
 */
export async function copyOf({ name, query }: TestSchema): Promise<() => Promise<void>> {
  const columns = await query<{ table: string; names: string }>(
    `SELECT relname AS table, string_agg(quote_ident(attname), ', ') AS names
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
     GROUP BY relname`,
    [name],
  )
  const all = (sql: (table: string, names: string) => string) =>
    query(`DO $$ BEGIN ${columns.map(({ table, names }) => sql(table, names)).join(' ')} END $$`)
  // Of one moment as long as nobody writes meanwhile.
  await all((table, names) => `CREATE TABLE holdfast.copy_of_${table} AS SELECT ${names} FROM holdfast.${table};`)
  return async () => {
    await all(
      (table, names) => `
        LOCK TABLE holdfast.${table};
        DELETE FROM holdfast.${table};
        INSERT INTO holdfast.${table} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM holdfast.copy_of_${table};`,
    )
  }
}
