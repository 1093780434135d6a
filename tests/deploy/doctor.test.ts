import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/cli/doctor/check.ts'
import { type DatabaseReport, databaseChecks } from '../../src/cli/doctor/database-checks.ts'
import { connectionsPerNode, inspectStore } from '../../src/stores/postgres/index.ts'
import { cli } from '../cli/harness/cli.ts'
import { LocalServer, tempFolder } from '../cli/harness/local-server.ts'
import { startServer } from '../postgres/harness/server.ts'
import { databaseServer, type TestDatabase } from './harness/database.ts'

const here = databaseServer()

interface Doctored {
  readonly code: number | string
  of(name: string): Check | undefined
}

async function doctor(store: string, env: Readonly<Record<string, string>> = {}): Promise<Doctored> {
  const folder = tempFolder()
  const { code, stdout } = await cli(['doctor', '--json'], {
    folder,
    // Nobody listens on the port of discard here.
    env: { XDG_STATE_HOME: folder, HOLDFAST_URL: 'http://127.0.0.1:9', HOLDFAST_STORE: store, ...env },
  })
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] }
  return { code, of: (name) => checks.find((check) => check.name === name) }
}

function node({ url }: TestDatabase, env: Readonly<Record<string, string>> = {}): Promise<LocalServer> {
  return LocalServer.start({ folder: tempFolder(), env: { HOLDFAST_STORE: url, ...env } })
}

/** What is said of a database that is right but for this. */
async function said(
  change: Partial<DatabaseReport>,
  contents: Partial<DatabaseReport['contents']> = {},
): Promise<Check[]> {
  const database = await here().database()
  await (await node(database)).end('SIGTERM')
  const report = await inspectStore(database.url)
  if (!report.contents) throw new Error('There is a schema, but nothing was read')
  const changed = { ...report, ...change, contents: { ...report.contents, ...contents } }
  const isRight = databaseChecks(report, connectionsPerNode, report.now, 'holdfast').every(
    ({ status }) => status === 'ok',
  )
  expect(isRight).toBe(true)
  return databaseChecks(changed, connectionsPerNode, report.now, 'holdfast').filter(({ status }) => status !== 'ok')
}

describe('holdfast doctor on a database', () => {
  it('finds nothing wrong with an empty one, makes nothing, and tells no password', async () => {
    const { url, query } = await here().database()
    const locked = url.replace('holdfast@', 'locked:right@')
    const found = await doctor(locked)
    expect(found.code).toBe(0)
    expect(found.of('schema')).toMatchObject({ status: 'note', advice: expect.stringContaining('holdfast migrate') })
    expect(await query(`SELECT FROM pg_namespace WHERE nspname = 'holdfast'`)).toEqual([])
    const folder = tempFolder()
    const { stdout, stderr } = await cli(['doctor'], {
      folder,
      env: { XDG_STATE_HOME: folder, HOLDFAST_STORE: locked },
    })
    expect(stdout).toContain(', as locked')
    expect(stdout + stderr).not.toContain('right@')
  })

  it('says how many nodes there are, and what belongs to one that was killed', async () => {
    const database = await here().database()
    const [one, two] = [await node(database), await node(database, { HOLDFAST_LEASE_MS: '4000' })]
    expect((await doctor(database.url)).of('server')).toMatchObject({
      finding: expect.stringMatching(/^None answers at .*, but 2 nodes have a lease$/),
      advice: 'Tell where one of them listens with --url or HOLDFAST_URL',
    })
    const live = await doctor(database.url, { HOLDFAST_URL: one.url, HOLDFAST_TOKEN: LocalServer.token })
    expect([live.code, live.of('nodes')?.finding]).toEqual([0, '2 have a lease'])
    expect(live.of('server')).toMatchObject({ status: 'ok', finding: expect.stringContaining('(postgres)') })
    expect(live.of('connections')?.finding).toMatch(/^\d+ of 197 are in use; a node takes up to 12$/)
    await one.end('SIGTERM')
    const script = [{ sleepMs: 600_000 }]
    const { id } = await two.post<{ id: string }>('/v1/threads/t/runs', { agent: 'script', input: { script } })
    await two.follow(`/v1/threads/t/events?task=${id}`, /task\.started/)
    await two.end('SIGKILL')
    const gone = () => doctor(database.url).then((found) => found.of('nodes')?.finding)
    await expect
      .poll(gone, { timeout: 60_000 })
      .toBe('0 have a lease, and 1 task belongs to nodes that are gone: 1 of script')
  })

  it('tells by agent what no node goes on with', async () => {
    const gone = { agent: 'gone', count: 2, sinceAt: 0 }
    const fresh = { agent: 'script', count: 1, sinceAt: Number.MAX_SAFE_INTEGER }
    const finding = '1 has a lease, and 3 tasks belong to nodes that are gone: 2 of gone, 1 of script'
    expect(await said({}, { nodeCount: 1, orphanCount: 3, orphans: [gone, fresh] })).toEqual([
      { name: 'nodes', status: 'note', finding, advice: 'Start a node that has the agent gone' },
    ])
    const [started] = await said({}, { nodeCount: 1, orphanCount: 1, orphans: [fresh] })
    expect(started?.advice).toContain('within a lease and some seconds')
    const ended = await said({}, { nodeCount: 1, orphanCount: 1, orphans: [] })
    expect(ended).toMatchObject([{ finding: '1 has a lease, and 1 task belongs to nodes that are gone' }])
  })

  it('counts by agent what nodes left behind, since their leases were over', async () => {
    const database = await here().database()
    await (await node(database)).end('SIGTERM')
    const add = (n: number, startedAt: number, cancelRequestedAt: number | null) =>
      database.query(
        `INSERT INTO holdfast.tasks (id, thread, principal, type, agent, status, place, ready, taken, closure, node, attempt, epoch,
          first_seq, seq, created_at, doc, started_at, cancel_requested_at)
        VALUES ('bg_' || $1::bigint, $1, 'alice', 'task', 'gone', 'running', 1, false, false, false, 'dead', 1, 1, 0, 0, 5, '{}', $2, $3)`,
        [n, startedAt, cancelRequestedAt],
      )
    await add(1, 7, null)
    await add(2, 9, null)
    // Whoever takes it over ends it.
    await add(3, 6, 10)
    const { contents } = await inspectStore(database.url)
    expect(contents).toMatchObject({ orphanCount: 3, orphans: [{ agent: 'gone', count: 2, sinceAt: 7 }] })
    await database.query(`INSERT INTO holdfast.nodes (id, until_at) VALUES ('dead', 8)`)
    const known = await inspectStore(database.url)
    expect(known.contents?.orphans).toEqual([{ agent: 'gone', count: 2, sinceAt: 8 }])
  })

  it('tells a schema that is older, newer, and of a newer major', async () => {
    const database = await here().database()
    await (await node(database)).end('SIGTERM')
    await database.query('UPDATE holdfast.meta SET minor = minor - 1')
    expect((await doctor(database.url)).of('schema')).toMatchObject({
      status: 'note',
      advice: expect.stringContaining('nodes may go on meanwhile'),
    })
    await database.query('UPDATE holdfast.meta SET minor = 99')
    expect((await doctor(database.url)).of('schema')).toMatchObject({ status: 'note', finding: /newer Holdfast/ })
    await database.query('UPDATE holdfast.meta SET major = 2')
    const newer = await doctor(database.url)
    expect([newer.code, newer.of('schema')?.finding]).toEqual([1, expect.stringContaining('Upgrade Holdfast')])
  })

  it('tells a schema that has lost an index, and a table', async () => {
    const database = await here().database()
    await (await node(database)).end('SIGTERM')
    await database.query('DROP INDEX holdfast.keys_by_age')
    expect((await doctor(database.url)).of('upkeep')?.finding).toMatch(/^The index keys_by_age of 0001_tables\.sql is/)
    await database.query('DROP TABLE holdfast.nodes')
    const found = await doctor(database.url)
    expect(found.code).toBe(1)
    expect(found.of('schema')).toMatchObject({
      status: 'wrong',
      finding: expect.stringMatching(/lacks the table nodes of 0001_tables\.sql\. Restore it from a copy$/),
    })
  })

  it('tells what a user may not do', async () => {
    const database = await here().database()
    await database.query(`DO $$ BEGIN CREATE ROLE weak LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
    const url = database.url.replace('holdfast@', 'weak@')
    expect((await doctor(url)).of('store rights')?.finding).toBe('weak lacks CREATE on the database')
    await database.query('CREATE SCHEMA holdfast')
    await database.query('GRANT USAGE ON SCHEMA holdfast TO weak')
    expect((await doctor(url)).of('store rights')?.finding).toBe('weak lacks CREATE on the schema')
    await database.query('REVOKE USAGE ON SCHEMA holdfast FROM weak')
    await (await node(database)).end('SIGTERM')
    expect((await doctor(url)).of('store rights')).toMatchObject({
      status: 'wrong',
      finding: expect.stringContaining('weak lacks USAGE on the schema, SELECT on'),
    })
    await database.query('GRANT USAGE ON SCHEMA holdfast TO weak')
    await database.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA holdfast TO weak')
    const unnumbered = await doctor(url)
    expect(unnumbered.code).toBe(1)
    expect(unnumbered.of('store rights')?.finding).toContain('USAGE on mail_n_seq')
    expect(unnumbered.of('schema')).toMatchObject({ status: 'ok' })
    await database.query('GRANT USAGE ON ALL SEQUENCES IN SCHEMA holdfast TO weak')
    await database.query('REVOKE EXECUTE ON FUNCTION holdfast.write_key FROM public')
    expect((await doctor(url)).of('store rights')?.finding).toBe('weak lacks EXECUTE on write_key')
    await database.query('GRANT EXECUTE ON FUNCTION holdfast.write_key TO public')
    expect((await doctor(url)).of('store rights')).toMatchObject({ status: 'ok' })
    await database.query('UPDATE holdfast.meta SET minor = minor - 1')
    expect((await doctor(url)).of('store rights')?.finding).toBe('weak lacks CREATE on the schema')
  })

  it('counts the connections of users whose doings it may not see', async () => {
    const database = await here().database()
    await database.query(`DO $$ BEGIN CREATE ROLE weak LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
    const clients = Array.from({ length: 15 }, () => new pg.Client({ connectionString: database.url }))
    for (const client of clients) await client.connect()
    const { connectionsUsed } = await inspectStore(database.url.replace('holdfast@', 'weak@'))
    for (const client of clients) await client.end()
    expect(connectionsUsed).toBeGreaterThanOrEqual(15)
  })

  it('tells a server that forgets, and one with too few connections', async () => {
    const server = await startServer({ fsync: 'off', max_connections: '8' })
    try {
      const found = await doctor(server.url)
      expect(found.code).toBe(1)
      expect(found.of('server')?.finding).toBeDefined()
      expect(found.of('connections')).toMatchObject({
        status: 'wrong',
        advice: expect.stringContaining('max_connections'),
      })
    } finally {
      await server.stop()
    }
  })

  it('tells a database that does not wait for the disk, and one that is not there', async () => {
    const { url, name, query } = await here().database()
    await query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    const found = await doctor(url)
    expect(found.code).toBe(1)
    const nowhere = await doctor(url.replace(name, 'nowhere'))
    expect([nowhere.code, nowhere.of('store')?.finding]).toEqual([1, expect.stringContaining('no such database')])
  })

  it('says what to look at where no server can be reached', async () => {
    const { code, of } = await doctor('postgres://me:hidden@127.0.0.1:1/x')
    expect(code).toBe(1)
    expect(of('store')).toMatchObject({
      finding: expect.stringContaining('it cannot be reached (connect ECONNREFUSED 127.0.0.1:1)'),
      advice: 'Check address and port in its URL, and that the server runs and lets this machine in',
    })
  })

  it('says how much of a commit is waited for, as it is set', async () => {
    const { url, name, query } = await here().database()
    for (const waits of ['on', 'remote_write', 'local']) {
      await query(`ALTER DATABASE ${name} SET synchronous_commit = ${waits}`)
      const finding = `fsync is on, synchronous_commit is ${waits}`
      expect((await doctor(url)).of('durability')).toEqual({ name: 'durability', status: 'ok', finding })
    }
  })

  it('tells a database that takes no writes', async () => {
    const database = await here().database()
    await (await node(database)).end('SIGTERM')
    await database.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`)
    const found = await doctor(database.url)
    expect(found.code).toBe(1)
    expect(found.of('durability')).toBeUndefined()
    expect(found.of('server')).toMatchObject({
      status: 'wrong',
      finding: 'default_transaction_read_only is on, so it takes no writes',
      advice: expect.stringContaining('Turn it off'),
    })
  })

  it('tells tasks that nobody starts, by agent', async () => {
    const database = await here().database()
    const server = await node(database)
    await server.post('/v1/threads/t/runs', { agent: 'echo', prompt: 'hi' })
    await server.end('SIGTERM')
    await database.query(
      `UPDATE holdfast.tasks SET agent = 'gone', status = 'pending', ready = true, created_at = created_at - 3600000`,
    )
    expect((await doctor(database.url)).of('waiting tasks')).toMatchObject({
      status: 'note',
      finding: '1 of gone, for 1h',
    })
  })

  it.each<[string, Partial<DatabaseReport>, Partial<DatabaseReport['contents']>, Check['status'], string]>([
    ['no autovacuum', { autovacuum: 'off' }, {}, 'wrong', 'autovacuum is off'],
    ['old rows', { transactionAge: 1_500_000_000 }, {}, 'wrong', 'writes stop'],
    ['a broken index', {}, { invalidIndexes: ['tasks_held'] }, 'wrong', 'tasks_held is not valid'],
    [
      'dead rows',
      {},
      { tables: [{ name: 'tasks', bytes: 1e9, liveRows: 1_000, deadRows: 200_000 }] },
      'note',
      'tasks has 200000 dead rows beside 1000',
    ],
    ['no notices', { passesNotices: false }, {}, 'note', 'by polling'],
    [
      'a long transaction',
      { oldestTransaction: { who: '77', application: 'psql', ageMs: 600_000 } },
      {},
      'note',
      '77 (psql)',
    ],
    [
      'a very long one',
      { oldestTransaction: { who: 'x', application: 'prepared', ageMs: 7_200_000 } },
      {},
      'wrong',
      'for 2h',
    ],
    ['few connections', { connectionsMax: 40, connectionsUsed: 9 }, { nodeCount: 4 }, 'note', 'there are 4 nodes'],
  ])('tells %s', async (_, change, contents, status, words) => {
    expect(await said(change, contents)).toMatchObject([{ status, finding: expect.stringContaining(words) }])
  })

  it('tells a clock that differs', async () => {
    const { url } = await here().database()
    const report = await inspectStore(url)
    const found = databaseChecks(report, connectionsPerNode, report.now + 90_000, 'holdfast').find(
      ({ name }) => name === 'server clock',
    )
    expect(found).toMatchObject({ status: 'note', finding: 'It is 1m behind the clock of this machine' })
  })
})
