import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ThreadKey } from '../../src/core/id.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { commit, deltas, headOf, logOf, numbersOf, unit, upTo } from '../../src/testing/store-suite/builders.ts'
import { listening, ownDatabase, type TestSchema, testSchema } from './harness/schema.ts'

let administration: TestSchema
let schema: TestSchema
let stores: Store[]

beforeEach(async () => {
  administration = testSchema()
  schema = await ownDatabase()
  stores = []
})

afterEach(async () => {
  for (const store of stores) await store.close()
  await administration.query(`DROP DATABASE ${databaseOf(schema)} WITH (FORCE)`)
})

function databaseOf({ url }: TestSchema): string {
  return new URL(url).pathname.slice(1)
}

/** A store that has written, so that its lane is known. */
async function openWritten(): Promise<Store> {
  const store = postgresStore({ url: schema.url, warn: () => {} })
  stores.push(store)
  await store.open()
  await store.renew('node', 60_000)
  await commit(store, unit({ events: deltas(1) }))
  return store
}

const ours = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'`

/**
 * Has all be connected to what takes no writes, and whoever connects from now on to what does: to those who are connected that is
 * how it looks when another server takes the place of theirs.
 */
async function failOver(store: Store): Promise<void> {
  const database = databaseOf(schema)
  await administration.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`)
  await schema.query(`SELECT pg_terminate_backend(pid) ${ours}`)
  await refusals(store)
  expect(await headOf(store)).toBe(1)
  await administration.query(`ALTER DATABASE ${database} RESET default_transaction_read_only`)
}

/** That connections were lost is found out one by one; from then on the server is there, and refuses. */
async function refusals(store: Store): Promise<void> {
  for (const write of [() => store.commit([]), () => store.renew('node', 60_000)]) {
    const refusal = () => write().catch((error: Error) => error.message)
    await expect.poll(refusal).toContain('takes no writes')
  }
}

describe('a server that takes no writes any more, and keeps its connections', () => {
  it('is left for the one that takes its place by whoever writes', async () => {
    const store = await openWritten()
    await failOver(store)
    await commit(store, unit({ events: deltas(2) }))
    expect(numbersOf(await logOf(store))).toEqual(upTo(3))
  })

  it('is left by whoever renews a lease', async () => {
    const store = await openWritten()
    await failOver(store)
    expect(await store.renew('node', 60_000)).toEqual({ wasHeld: true })
  })

  it('is left by those who only read and listen as soon as something is written elsewhere', async () => {
    const store = await openWritten()
    const heard: ThreadKey[] = []
    store.watch((key) => heard.push(key))
    await failOver(store)
    await expect.poll(() => schema.query(`SELECT ${listening}`)).toHaveLength(1)
    const [{ now } = { now: '' }] = await schema.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
    await commit(store, unit({ events: deltas(2) }))
    await expect.poll(() => schema.query(`SELECT ${ours} AND backend_start < $1`, [now])).toEqual([])
    await expect.poll(() => schema.query(`SELECT ${listening}`)).toHaveLength(1)
    expect(await headOf(store)).toBe(3)
  })

  it('is not left over and over by those who read while there is no other', async () => {
    const store = await openWritten()
    await administration.query(`ALTER DATABASE ${databaseOf(schema)} SET default_transaction_read_only = on`)
    await schema.query(`SELECT pg_terminate_backend(pid) ${ours}`)
    await refusals(store)
    const reader = `SELECT pid ${ours} AND query LIKE '%chunks%'`
    expect(await headOf(store)).toBe(1)
    const before = await schema.query(reader)
    expect(before).toHaveLength(1)
    await expect(store.renew('node', 60_000)).rejects.toThrow('takes no writes')
    expect(await headOf(store)).toBe(1)
    expect(await schema.query(reader)).toEqual(before)
  })
})
