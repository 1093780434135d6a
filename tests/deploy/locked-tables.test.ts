import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { type CliEnd, cli } from '../cli/harness/cli.ts'
import { tempFolder } from '../cli/harness/local-server.ts'
import { databaseServer, type TestDatabase } from './harness/database.ts'
import { startPooler } from './harness/transaction-pooler.ts'

const here = databaseServer({ max_prepared_transactions: '2' })

function ran(store: string, ...args: string[]): Promise<CliEnd> {
  const folder = tempFolder()
  // Nobody listens on the port of discard here.
  const env = { XDG_STATE_HOME: folder, HOLDFAST_URL: 'http://127.0.0.1:9', HOLDFAST_STORE: store }
  return cli(args, { folder, env })
}

async function doctor(store: string): Promise<{ readonly code: unknown; of(name: string): Check | undefined }> {
  const { code, stdout } = await ran(store, 'doctor', '--json')
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] }
  return { code, of: (name) => checks.find((check) => check.name === name) }
}

async function migrated(): Promise<TestDatabase> {
  const database = await here().database()
  expect(await ran(database.url, 'migrate')).toMatchObject({ code: 0 })
  return database
}

/** The URL for a user who may do what a node has to, and see nothing of what other users do. */
async function weakUser({ url, query }: TestDatabase): Promise<string> {
  await query(`DO $$ BEGIN CREATE ROLE weak LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
  for (const what of ['USAGE ON SCHEMA', 'ALL ON ALL TABLES IN SCHEMA', 'ALL ON ALL SEQUENCES IN SCHEMA']) {
    await query(`GRANT ${what} holdfast TO weak`)
  }
  return url.replace('holdfast@', 'weak@')
}

/** A session of another program that has begun a transaction, and then does this. Says which process of the server it has. */
async function session(
  { url }: TestDatabase,
  sql: string,
): Promise<{ readonly pid: string; readonly done: Promise<unknown> }> {
  const client = new pg.Client({ connectionString: url, application_name: 'psql' })
  await client.connect()
  onTestFinished(() => client.end())
  client.on('error', () => undefined)
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid()::text AS pid')
  await client.query('BEGIN')
  return { pid: rows[0]?.pid ?? '', done: client.query(sql).catch(() => undefined) }
}

function waitsForLock({ query }: TestDatabase, pid: string): Promise<void> {
  const waits = 'SELECT FROM pg_locks WHERE pid = $1 AND NOT granted'
  return expect.poll(async () => (await query(waits, [pid])).length).toBe(1)
}

describe('holdfast doctor on a database whose tables are locked', () => {
  it.each(['tasks', 'meta'])(
    'says who has locked %s, and what to do, and all that the server itself tells',
    async (table) => {
      const database = await migrated()
      const { pid, done } = await session(database, `LOCK TABLE holdfast.${table} IN ACCESS EXCLUSIVE MODE`)
      await done
      const found = await doctor(database.url)
      expect(found.code).toBe(1)
      expect(found.of('locks')).toEqual({
        name: 'locks',
        status: 'wrong',
        finding: expect.stringMatching(
          new RegExp(
            `^${table} is locked by ${pid} \\(psql\\), in a transaction for \\d+s: nobody else reads or writes it$`,
          ),
        ),
        advice: `End that session: SELECT pg_terminate_backend(${pid})`,
      })
      expect(found.of('connections')).toMatchObject({ status: 'ok' })
      expect(found.of('transactions')).toMatchObject({ status: 'ok' })
      expect(found.of('schema')).toMatchObject({ status: table === 'meta' ? 'note' : 'ok' })
      expect(found.of('nodes')).toMatchObject({ status: 'note', finding: expect.stringContaining('a table is locked') })
      await database.query(`SELECT pg_terminate_backend(${pid})`)
      const freed = await doctor(database.url)
      expect([freed.code, freed.of('locks')?.status, freed.of('nodes')?.status]).toEqual([0, 'ok', 'ok'])
    },
  )

  it('tells a user who may see nothing of others, behind a pooler', async () => {
    const database = await migrated()
    const url = await weakUser(database)
    const { pid, done } = await session(database, 'REINDEX INDEX holdfast.tasks_held')
    await done
    const found = await doctor((await startPooler(url, 2)).through(url))
    expect([found.code, found.of('locks')?.finding]).toEqual([
      1,
      expect.stringContaining(`tasks is locked by ${pid} (psql): nobody else reads`),
    ])
  })

  it('names whom others wait for, and not only who waits', async () => {
    const database = await migrated()
    const holder = await session(database, 'SELECT FROM holdfast.tasks')
    await holder.done
    const altering = await session(database, 'ALTER TABLE holdfast.tasks ADD COLUMN later text')
    await waitsForLock(database, altering.pid)
    const found = await doctor(database.url)
    expect(found.of('locks')).toMatchObject({
      finding: expect.stringContaining(`by ${altering.pid}, which waits for ${holder.pid} (psql), in a transaction`),
      advice: `End that session: SELECT pg_terminate_backend(${holder.pid})`,
    })
    await database.query(`SELECT pg_terminate_backend(${holder.pid})`)
  })

  it('tells a lock that only writes wait for, and reads all the rest', async () => {
    const database = await migrated()
    await (await session(database, 'LOCK TABLE holdfast.chunks IN SHARE MODE')).done
    const found = await doctor(database.url)
    expect([found.code, found.of('nodes')?.status]).toEqual([1, 'ok'])
    expect(found.of('locks')?.finding).toMatch(/^chunks is locked by .*: nobody else writes to it$/)
  })

  it('tells a prepared transaction by its name', async () => {
    const database = await migrated()
    await (await session(database, `LOCK TABLE holdfast.tasks; PREPARE TRANSACTION 'forgotten'`)).done
    const found = await doctor(database.url)
    expect(found.of('locks')).toMatchObject({
      finding: expect.stringContaining('tasks is locked by forgotten (prepared), in a transaction for'),
      advice: `End that transaction: ROLLBACK PREPARED 'forgotten'`,
    })
    await database.query(`ROLLBACK PREPARED 'forgotten'`)
  })

  it('tells a prepared transaction that somebody else waits for, the one of several that is in the way', async () => {
    const database = await migrated()
    await (await session(database, `SELECT FROM holdfast.tasks; PREPARE TRANSACTION 'harmless'`)).done
    const update = 'UPDATE holdfast.tasks SET agent = NULL WHERE false'
    await (await session(database, `${update}; PREPARE TRANSACTION 'forgotten'`)).done
    const locking = await session(database, 'LOCK TABLE holdfast.tasks IN SHARE ROW EXCLUSIVE MODE')
    await waitsForLock(database, locking.pid)
    const found = await doctor(database.url)
    for (const gid of ['harmless', 'forgotten']) await database.query(`ROLLBACK PREPARED '${gid}'`)
    expect(found.of('locks')).toMatchObject({
      finding: expect.stringContaining(`by ${locking.pid}, which waits for forgotten (prepared), in a transaction for`),
      advice: `End that transaction: ROLLBACK PREPARED 'forgotten'`,
    })
  })

  it('tells an index that is lost though a table is locked', async () => {
    const database = await migrated()
    await database.query('DROP INDEX holdfast.keys_by_age')
    await (await session(database, 'LOCK TABLE holdfast.chunks IN ACCESS EXCLUSIVE MODE')).done
    const found = await doctor(database.url)
    expect(found.of('upkeep')).toMatchObject({
      status: 'wrong',
      finding: expect.stringContaining('keys_by_age of 0001'),
    })
  })

  it('says nothing of a table that is not Holdfast’s', async () => {
    const database = await migrated()
    await database.query('CREATE TABLE holdfast.mine (n integer UNIQUE)')
    await (await session(database, 'LOCK TABLE holdfast.mine')).done
    const found = await doctor(database.url)
    expect([found.code, found.of('locks')?.status, found.of('nodes')?.status]).toEqual([0, 'ok', 'ok'])
    expect(found.of('size')?.finding).toMatch(/; \w+ \d/)
  })

  it('says what could not be read in some seconds, also where a pooler lets no limit be set', async () => {
    const database = await migrated()
    const url = await weakUser(database)
    await database.query(`INSERT INTO holdfast.nodes (id, until_at) VALUES ('gone', 0)`)
    await database.query('ALTER TABLE holdfast.nodes ENABLE ROW LEVEL SECURITY')
    await database.query('CREATE POLICY slow ON holdfast.nodes USING (pg_sleep(60) IS NOT NULL)')
    const pooler = await startPooler(url, 4)
    for (const found of await Promise.all([doctor(url), doctor(pooler.through(url))])) {
      expect(found.of('nodes')).toMatchObject({ status: 'note', finding: expect.stringContaining('in some seconds') })
      expect(found.of('transactions')).toBeDefined()
    }
  })

  it.each([
    ['size', 'pg_database_size(name) RETURNS bigint', 'nodes'],
    ['store rights', 'has_table_privilege(oid, text) RETURNS boolean', 'size'],
    ['schema', 'convert_to(text, name) RETURNS bytea', 'size'],
  ])('says of the %s alone that it could not be read in some seconds', async (name, slow, other) => {
    const database = await migrated()
    // What a server does slowly is hidden by a function of the same name, which sleeps.
    await database.query('CREATE SCHEMA slow')
    await database.query(`CREATE FUNCTION slow.${slow} LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); END $$`)
    await database.query(`ALTER DATABASE ${database.name} SET search_path = slow, pg_catalog`)
    const pooler = await startPooler(database.url, 4)
    const [direct, pooled] = await Promise.all([doctor(database.url), doctor(pooler.through(database.url))])
    for (const found of [direct, pooled]) {
      expect(found.code).toBe(0)
      expect(found.of(name)).toMatchObject({ status: 'note', finding: expect.stringContaining('in some seconds') })
      expect(found.of('transactions')).toMatchObject({ status: 'ok' })
    }
    expect(direct.of(other)).toMatchObject({ status: 'ok' })
  })
})

describe('holdfast migrate on a database whose tables are locked', () => {
  it('says with --check who has locked what says the schema, and changes nothing', async () => {
    const database = await migrated()
    const { pid, done } = await session(database, 'LOCK TABLE holdfast.meta IN ACCESS EXCLUSIVE MODE')
    await done
    expect(await ran(database.url, 'migrate', '--check')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`its table meta is locked by ${pid} (psql). Run \`holdfast doctor\``),
    })
  })

  it('names with --check whom somebody waits for who wants to lock it', async () => {
    const database = await migrated()
    const holder = await session(database, 'SELECT FROM holdfast.meta')
    await holder.done
    const altering = await session(database, 'ALTER TABLE holdfast.meta ADD COLUMN later text')
    await waitsForLock(database, altering.pid)
    const { code, stderr } = await ran(database.url, 'migrate', '--check')
    await database.query(`SELECT pg_terminate_backend(${holder.pid})`)
    const words = `its table meta is to be locked by ${altering.pid}, which waits for ${holder.pid} (psql). Run`
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)])
  })

  it('waits for what it has to change, and tells a time-out of the server for transactions as what it is', async () => {
    const database = await migrated()
    await (await session(database, 'LOCK TABLE holdfast.meta IN ACCESS EXCLUSIVE MODE')).done
    await database.query(`ALTER DATABASE ${database.name} SET transaction_timeout = '300ms'`)
    const { code, stderr } = await ran(database.url, 'migrate')
    expect([code, stderr]).toEqual([1, expect.stringContaining('longer than its transaction_timeout')])
    expect(stderr).not.toContain('replica')
  })
})
