import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRuntime } from '../../src/index.ts'
import { Connection } from '../../src/stores/postgres/connection.ts'
import { type PostgresStoreOptions, postgresStore } from '../../src/stores/postgres/index.ts'
import { locate } from '../../src/stores/postgres/location.ts'
import type { Store } from '../../src/stores/store.ts'
import { commit, deltas, headOf, running, unit } from '../../src/testing/store-suite/builders.ts'
import { ownDatabase, type TestSchema, testSchema } from './harness/schema.ts'
import { startServer } from './harness/server.ts'

let schema: TestSchema
let stores: Store[]

beforeEach(() => {
  schema = testSchema()
  stores = []
})

afterEach(async () => {
  for (const store of stores) await store.close()
  await schema.drop()
})

async function open(options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = postgresStore({ url: schema.url, ...options })
  stores.push(store)
  await store.open()
  return store
}

async function leaveStore(): Promise<void> {
  const store = await open()
  await commit(store, unit({ events: deltas(3) }))
  await store.close()
}

describe('the schema of a Postgres store', () => {
  it('is made once by nodes that start together', async () => {
    const nodes = await Promise.all([open(), open(), open(), open()])
    await Promise.all(nodes.map((store) => commit(store, unit({ events: deltas(1) }))))
    expect(await headOf(nodes[0])).toBe(4)
  })

  it('is made once where transactions see the past unless they are told otherwise', async () => {
    const url = `${schema.url}&options=-c%20default_transaction_isolation%3Drepeatable%5C%20read`
    const nodes = await Promise.all([open({ url }), open({ url }), open({ url }), open({ url })])
    const firsts = await Promise.all(nodes.map((store) => store.allocate(1)))
    expect(firsts.sort()).toEqual([0, 1, 2, 3])
  })

  it('is made though the user has a time-out for transactions, which is over while it waits for another node', async () => {
    // In a database of its own: the lock is one for all schemas of a database, and other tests make theirs meanwhile.
    schema = await ownDatabase()
    const letGo = await schema.hold('SELECT pg_advisory_xact_lock(4747000001)')
    const opening = open({ url: `${schema.url}&options=-c%20transaction_timeout%3D300` })
    const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND wait_event = 'advisory' AND clock_timestamp() - xact_start > interval '600 ms'`
    await expect.poll(async () => (await schema.query(waits)).length).toBe(1)
    await letGo()
    expect(await headOf(await opening)).toBe(0)
  })

  it('is made by a user who may not make schemas, where there is an empty one of its own', async () => {
    const user = `${schema.name}_user`
    await schema.query(`CREATE ROLE ${user} LOGIN`)
    await schema.query(`CREATE SCHEMA ${schema.name} AUTHORIZATION ${user}`)
    const url = new URL(schema.url)
    url.username = user
    const store = await open({ url: url.href })
    expect((await commit(store, unit({ events: deltas(1) }))).length).toBe(1)
    await store.close()
    await schema.query(`DROP OWNED BY ${user} CASCADE`)
    await schema.query(`DROP ROLE ${user}`)
  })

  it('is refused to a user who may not do all that a node does, by name of what is lacking, until it is granted', async () => {
    await leaveStore()
    const user = `${schema.name}_user`
    const tables = `ALL TABLES IN SCHEMA ${schema.name}`
    await schema.query(`CREATE ROLE ${user} LOGIN`)
    const url = new URL(schema.url)
    url.username = user
    const refusal = (lacking: string) => ({ code: 'store_unavailable', message: expect.stringContaining(lacking) })
    await expect(open({ url: url.href })).rejects.toMatchObject(refusal(`${user} lacks USAGE on the schema`))
    await schema.query(`GRANT USAGE ON SCHEMA ${schema.name} TO ${user}`)
    await schema.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO ${user}`)
    await expect(open({ url: url.href })).rejects.toMatchObject(refusal('_seq'))
    await schema.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema.name} TO ${user}`)
    await schema.query(`REVOKE INSERT ON holdfast.chunks FROM ${user}`)
    await expect(open({ url: url.href })).rejects.toMatchObject(refusal(`${user} lacks INSERT on chunks.`))
    await schema.query(`GRANT INSERT ON holdfast.chunks TO ${user}`)
    // What others keep there, and what later versions add, is no concern of this one.
    await schema.query('CREATE TABLE holdfast.songs (number serial, title text)')
    const store = await open({ url: url.href })
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(4)
    await store.close()
    await schema.query(`DROP OWNED BY ${user} CASCADE`)
    await schema.query(`DROP ROLE ${user}`)
  })

  it('LIFE-15 is missed at once by a spawn, with a typed error, and no task is left behind', async () => {
    const runtime = createRuntime({ store: postgresStore({ url: schema.url, migrate: false }) })
    const spawning = runtime.spawn({ thread: 't', run: async () => 'never' })
    await expect(spawning).rejects.toMatchObject({ code: 'store_schema' })
    await runtime.close()
    const migrated = createRuntime({ store: schema.url })
    expect((await migrated.list()).tasks).toEqual([])
    await migrated.close()
  })

  it('is refused where there is none and it may not be made, and nothing is made', async () => {
    const refusal = { code: 'store_schema', message: expect.stringContaining('Let it migrate') }
    await expect(open({ migrate: false })).rejects.toMatchObject(refusal)
    expect(await schema.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema.name])).toEqual([])
  })

  it('is accepted without migrating where it is there', async () => {
    await leaveStore()
    expect(await headOf(await open({ migrate: false }))).toBe(3)
  })

  it('of a newer major is refused', async () => {
    await leaveStore()
    await schema.query('UPDATE holdfast.meta SET major = 2')
    await expect(open()).rejects.toMatchObject({ code: 'store_schema', message: expect.stringContaining('Upgrade') })
  })

  it('of a newer minor is accepted and stays as it is', async () => {
    await leaveStore()
    await schema.query('UPDATE holdfast.meta SET minor = 99')
    await schema.query('ALTER TABLE holdfast.threads ADD COLUMN later text')
    const store = await open()
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(4)
    expect(await schema.query('SELECT major, minor FROM holdfast.meta')).toEqual([{ major: 1, minor: 99 }])
  })

  it('is never made in the schema of another program', async () => {
    await schema.query(`CREATE SCHEMA ${schema.name}`)
    await schema.query('CREATE TABLE holdfast.songs (title text)')
    const refusal = { code: 'store_schema', message: expect.stringContaining('another program') }
    await expect(open()).rejects.toMatchObject(refusal)
  })
})

describe('a Postgres store', () => {
  it.each([
    ['no URL', 'nonsense'],
    ['another protocol', 'mysql://127.0.0.1/x'],
    ['a schema that would need quotes', 'postgres://127.0.0.1/x?schema=a"b'],
  ])('is not made of %s', (_, url) => {
    expect(() => postgresStore({ url })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('says store_unavailable of a server that is not there, and never the password', async () => {
    const opening = open({ url: 'postgres://holdfast:secret@127.0.0.1:1/postgres' })
    await expect(opening).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(opening).rejects.not.toThrow('secret')
  })

  it('says store_unavailable of a database that is not there', async () => {
    const url = schema.url.replace('/postgres?', '/nowhere?')
    const refusal = { code: 'store_unavailable', message: expect.stringContaining('no such database') }
    await expect(open({ url })).rejects.toMatchObject(refusal)
  })

  it('refuses a session that does not wait for the disk', async () => {
    const url = `${schema.url}&options=-c%20synchronous_commit%3Doff`
    await expect(open({ url })).rejects.toMatchObject({ message: expect.stringContaining('synchronous_commit') })
  })

  it('refuses a server that does not write to the disk', async () => {
    const server = await startServer({ fsync: 'off' })
    try {
      await expect(open({ url: server.url })).rejects.toMatchObject({ message: expect.stringContaining('fsync') })
    } finally {
      await server.stop()
    }
  })

  it('holds what it has committed over a restart of its server, and goes on', async () => {
    const server = await startServer()
    try {
      const store = await open({ url: server.url })
      await commit(store, unit({ events: deltas(3) }))
      await server.crash()
      await expect(store.task(running('bg_0').id)).rejects.toMatchObject({ code: 'store_unavailable' })
      await expect(store.commit([])).rejects.toMatchObject({ code: 'store_unavailable' })
      await server.start()
      await expect.poll(() => store.commit([]).catch(() => 'down')).toEqual([])
      await commit(store, unit({ events: deltas(1) }))
      await expect.poll(() => headOf(store).catch(() => 'down')).toBe(4)
      await store.close()
    } finally {
      await server.stop()
    }
  })

  it('never gives a number again that it has given, whatever happens to its server', async () => {
    // What is not on the disk when it is acknowledged would not be there for a long time.
    const server = await startServer({ wal_writer_delay: '10s' })
    try {
      const store = await open({ url: server.url })
      expect(await store.allocate(20)).toBe(0)
      await server.crash()
      await server.start()
      await expect.poll(() => store.moved?.([]).catch(() => 'down')).toEqual([])
      expect(await store.allocate(1)).toBeGreaterThanOrEqual(20)
      await store.close()
    } finally {
      await server.stop()
    }
  })

  it('keeps ids, names and keys as they are, whatever characters they have', async () => {
    const odd = ['a\u0000b', '\ud800', '"quoted" \\ back', 'tab\tline\n', '👩‍👩‍👧', '', '\\u0000']
    const store = await open()
    for (const [n, text] of odd.entries()) {
      const record = running(`${n}${text}`, { name: `n${text}`, agent: text, node: text, type: `t${text}` })
      await store.commit([unit({ tasks: [{ record, isNew: true, stamps: [] }] })])
      expect(await store.task(record.id)).toEqual({ ...record, ...(text === '' && { node: undefined }) })
    }
    const names = new Set((await store.livePart(running('x').key))?.tasks.map((task) => task.name))
    expect(names).toEqual(new Set(odd.map((text) => `n${text}`)))
  })
})

describe('a connection', () => {
  it('has set what it is to have, where nobody stands between it and the server', async () => {
    const connection = await Connection.open(locate(schema.url), { statement_timeout: 4321, jit: 'off' })
    try {
      const sql = `SELECT current_setting('statement_timeout') AS timeout, current_setting('jit') AS jit`
      expect(await connection.query({ sql })).toEqual([{ timeout: '4321ms', jit: 'off' }])
    } finally {
      await connection.close()
    }
  })

  it('asks without a name what it has asked by name, once a pooler has given it another server connection', async () => {
    const connection = await Connection.open(locate(schema.url), {})
    try {
      const ask = () => connection.query({ name: 'sum', sql: 'SELECT $1::integer + 1 AS sum', values: [1] })
      expect(await ask()).toEqual([{ sum: 2 }])
      await connection.run('DEALLOCATE ALL')
      expect([await ask(), await ask()]).toEqual([[{ sum: 2 }], [{ sum: 2 }]])
      await expect(connection.query({ name: 'wrong', sql: 'SELECT 1 / 0' })).rejects.toMatchObject({ code: '22012' })
      expect(connection.isLost).toBe(false)
    } finally {
      await connection.close()
    }
  })

  it('gives what it asks another name in another schema, so that a pooler never mixes them up', async () => {
    const names = async (url: string) => {
      const connection = await Connection.open(locate(url), {})
      try {
        for (const sql of [`SELECT 'holdfast.'`, `SELECT 'holdfast.'`, `SELECT 'holdfast.' AS newer`]) {
          await connection.query({ name: 'ask', sql })
        }
        const rows = await connection.query<{ name: string }>({ sql: 'SELECT name FROM pg_prepared_statements' })
        return rows.map(({ name }) => name)
      } finally {
        await connection.close()
      }
    }
    const other = schema.url.replace(schema.name, 'another')
    const all = [...(await names(schema.url)), ...(await names(other)), ...(await names(schema.url))]
    expect(all).toHaveLength(6)
    expect(new Set(all).size).toBe(4)
    for (const name of all) expect(name).toMatch(/^holdfast_ask_[0-9a-f]{16}$/)
  })
})
