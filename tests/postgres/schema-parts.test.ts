import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inspectStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { schemaParts } from '../../src/stores/postgres/schema-parts.ts'
import { ownDatabase, type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema

beforeEach(() => {
  schema = testSchema()
})

afterEach(() => schema.drop())

async function open(): Promise<void> {
  const store = postgresStore({ url: schema.url })
  await store.open().finally(() => store.close())
}

/** What a doctor is told: why no node starts, or which indexes are not there. */
async function told(): Promise<unknown> {
  const { schema: state } = await inspectStore(schema.url)
  return state && 'refusal' in state ? state.refusal : state?.missingIndexes
}

const selectParts = `
  SELECT 'table' AS kind, tablename AS name FROM pg_tables WHERE schemaname = $1
  UNION ALL SELECT 'function', proname FROM pg_proc WHERE pronamespace = $1::regnamespace
  UNION ALL SELECT CASE WHEN i.indisunique THEN 'unique index' ELSE 'index' END, c.relname
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = $1::regnamespace`

describe('the parts of a schema', () => {
  it('are read from the migrations as they make them, every table, function and index', async () => {
    await open()
    const made = await schema.query<{ kind: string; name: string }>(selectParts, [schema.name])
    const sorted = (parts: readonly { readonly kind: string; readonly name: string }[]) =>
      parts.map(({ kind, name }) => `${kind} ${name}`).toSorted()
    expect(sorted(schemaParts())).toEqual(sorted(made))
  })

  it.each([
    ['TABLE holdfast.steps', 'lacks the table steps of 0001_tables.sql. Restore it from a copy'],
    ['TABLE holdfast.nodes', 'lacks the table nodes of 0001_tables.sql. Restore it from a copy'],
    ['TABLE holdfast.meta', 'lacks the table meta, which says its schema. Restore it from a copy'],
    [
      'FUNCTION holdfast.write_key',
      'lacks the function write_key of 0002_writes.sql. Make it again as there, or restore',
    ],
    ['FUNCTION holdfast.clock_ms', 'lacks the function clock_ms of 0001_tables.sql. Make it again'],
    ['INDEX holdfast.tasks_running_run', 'lacks the unique index tasks_running_run of 0001_tables.sql. Make it again'],
  ])('after DROP %s are told, and a node that starts refuses them', async (what, words) => {
    await open()
    await schema.query(`DROP ${what}`)
    expect(await told()).toContain(words)
    await expect(open()).rejects.toMatchObject({ code: 'store_schema', message: expect.stringContaining(words) })
  })

  it('without a key that a commit relies on are refused', async () => {
    await open()
    await schema.query('ALTER TABLE holdfast.keys DROP CONSTRAINT keys_pkey')
    expect(await told()).toContain('the unique index keys_pkey of 0001_tables.sql')
    await expect(open()).rejects.toMatchObject({ code: 'store_schema' })
  })

  it.each([
    ['SQL', 'clock_ms() RETURNS bigint LANGUAGE sql', "'SELECT 0::bigint'", 'clock_ms of 0001_tables.sql'],
    [
      'PL/pgSQL',
      'trim_log(thread_n bigint, up_to bigint) RETURNS bigint LANGUAGE plpgsql',
      '$$ BEGIN RETURN 0; END $$',
      'trim_log of 0002_writes.sql',
    ],
  ])(
    'with another body of a function in %s are told, and a node that starts refuses them',
    async (_, head, body, words) => {
      await open()
      await schema.query(`CREATE OR REPLACE FUNCTION holdfast.${head} AS ${body}`)
      expect(await told()).toContain(`has other code in the function ${words}`)
      await expect(open()).rejects.toMatchObject({
        code: 'store_schema',
        message: expect.stringMatching(
          /changed by hand, or made by a version that was never released\. Make it again as there/,
        ),
      })
    },
  )

  it('with a function of other arguments lack it, and may have some of the same name beside it', async () => {
    await open()
    for (const given of ['later boolean', 'boolean, boolean']) {
      await schema.query(
        `CREATE FUNCTION holdfast.clock_ms(${given}) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'`,
      )
    }
    await open()
    await schema.query('DROP FUNCTION holdfast.clock_ms()')
    expect(await told()).toContain('lacks the function clock_ms of 0001_tables.sql')
    await expect(open()).rejects.toMatchObject({ code: 'store_schema' })
  })

  it.each(['quote_all_identifiers = on', 'search_path = odd, pg_catalog'])(
    'are the same whatever a session writes for the name of a type: %s',
    async (setting) => {
      schema = await ownDatabase()
      await open()
      await schema.query('CREATE SCHEMA odd')
      await schema.query('CREATE DOMAIN odd.text AS pg_catalog.text')
      await schema.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting}', current_database()); END $$`)
      expect(await told()).toEqual([])
      await open()
    },
  )

  it('are those of the migrations whatever ends their lines', async () => {
    await open()
    await schema.query(
      `DO $do$ BEGIN EXECUTE replace(pg_get_functiondef('holdfast.trim_log'::regproc), E'\n', E'\r\n'); END $do$`,
    )
    const crossed = `SELECT FROM pg_proc WHERE pronamespace = $1::regnamespace AND prosrc LIKE E'%\r\n%'`
    expect(await schema.query(crossed, [schema.name])).toHaveLength(1)
    await open()
  })

  it('are told three at a time', async () => {
    await open()
    for (const name of ['write_rest', 'write_rows', 'write_key', 'trim_log']) {
      await schema.query(`DROP FUNCTION holdfast.${name}`)
    }
    expect(await told()).toMatch(
      /write_rows of 0002_writes.sql, .*trim_log of .*write_rest of .* and 1 more\. Make them/,
    )
  })

  it('are told together where several were changed', async () => {
    await open()
    const heads = [
      'trim_log(thread_n bigint, up_to bigint) RETURNS bigint',
      'erase_tasks(thread_n bigint, count_max bigint) RETURNS bigint[]',
    ]
    for (const head of heads) {
      await schema.query(`CREATE OR REPLACE FUNCTION holdfast.${head} LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
    }
    expect(await told()).toMatch(/trim_log of .*erase_tasks of .*, which were changed by hand, .*Make them again/)
  })

  it('without an index that only makes reads fast are told, and a node starts', async () => {
    await open()
    await schema.query('DROP INDEX holdfast.keys_by_age')
    expect(await told()).toEqual(['keys_by_age of 0001_tables.sql'])
    await open()
  })

  it('are those of the migrations that were made', async () => {
    await open()
    await schema.query('DROP FUNCTION holdfast.write_emits')
    await schema.query('DROP FUNCTION holdfast.commit_units_emitting')
    await schema.query('ALTER TABLE holdfast.meta DROP COLUMN channel')
    await schema.query('UPDATE holdfast.meta SET minor = 3')
    expect(await told()).toEqual([])
    await open()
    expect(await told()).toEqual([])
  })

  it('are enough where a newer minor has more', async () => {
    await open()
    await schema.query('CREATE TABLE holdfast.later (n bigint PRIMARY KEY)')
    await schema.query('UPDATE holdfast.meta SET minor = 99')
    expect(await told()).toEqual([])
    await open()
  })
})
