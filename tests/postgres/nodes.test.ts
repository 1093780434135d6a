import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { ThreadKey } from '../../src/core/id.ts'
import { threadId, threadKey } from '../../src/core/id.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import {
  accepting,
  alice,
  away,
  codes,
  commit,
  commitOne,
  deltas,
  fenced,
  home,
  idsOf,
  logOf,
  numbersOf,
  pending,
  refused,
  running,
  starting,
  unit,
  upTo,
} from '../../src/testing/store-suite/builders.ts'
import { type NetworkProxy, startProxy } from './harness/proxy.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let proxy: NetworkProxy | undefined
let stores: Store[]
let warnings: string[]

beforeEach(() => {
  schema = testSchema()
  stores = []
  warnings = []
})

afterEach(async () => {
  for (const store of stores) await store.close()
  await proxy?.close()
  proxy = undefined
  await schema.drop()
})

async function open(url = schema.url): Promise<Store> {
  const store = postgresStore({ url, warn: (text) => warnings.push(text) })
  stores.push(store)
  await store.open()
  return store
}

async function openTwo(): Promise<[Store, Store]> {
  return [await open(), await open()]
}

/** What a store hears from now on. It is listening when this resolves. */
async function heardBy(store: Store): Promise<ThreadKey[]> {
  const heard: ThreadKey[] = []
  store.watch((key) => heard.push(key))
  await expect.poll(() => listeners()).toBeGreaterThan(0)
  return heard
}

async function listeners(): Promise<number> {
  const sql = `SELECT FROM pg_stat_activity WHERE query = 'LISTEN ${schema.name}'`
  return (await schema.query(sql)).length
}

/** How often the server had to end a transaction because two waited for each other. */
async function deadlocks(): Promise<number> {
  const sql = 'SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()'
  const [row] = await schema.query<{ count: number }>(sql)
  return row?.count ?? Number.NaN
}

describe('two nodes on one database', () => {
  it('see at once what the other has committed, and number one log together without a hole', async () => {
    const [one, two] = await openTwo()
    const counts = Array.from({ length: 40 }, (_, n) => (n % 3) + 1)
    await Promise.all(counts.map((count, n) => commitOne(n % 2 === 0 ? one : two, unit({ events: deltas(count) }))))
    const total = counts.reduce((sum, count) => sum + count)
    expect(numbersOf(await logOf(one))).toEqual(upTo(total))
    expect(await logOf(two)).toEqual(await logOf(one))
  })

  it('lock threads in one order, so batches over the same threads never block each other for good', async () => {
    const nodes = [await open(), await open(), await open()]
    const before = await deadlocks()
    const keys = upTo(12).map((n) => threadKey(alice, threadId(`t${n}`)))
    await Promise.all(
      nodes.map(async (store, node) => {
        for (let n = 0; n < 15; n++) {
          // Each node names them in another order, and some of them are new to all.
          const turned = [...keys.slice((node * 5 + n) % 12), ...keys.slice(0, (node * 5 + n) % 12)]
          await commit(store, ...turned.map((thread) => unit({ thread, events: deltas(1) })))
        }
      }),
    )
    for (const key of keys) expect(numbersOf(await logOf(nodes[0] as Store, key))).toEqual(upTo(45))
    // A connection tells what it has counted when it ends.
    for (const store of nodes) await store.close()
    expect(await deadlocks()).toBe(before)
  })

  it('decide a race at one revision for one of them', async () => {
    const [one, two] = await openTwo()
    for (let rev = 0; rev < 20; rev++) {
      const verdicts = await Promise.all([one, two].map((store) => codes(store, [unit({ rev })])))
      expect(verdicts.flat().sort()).toEqual(['committed', 'stale'])
    }
  })

  it('give an idempotency key to one of them, in whatever threads it is used', async () => {
    const [one, two] = await openTwo()
    for (let n = 0; n < 10; n++) {
      const uses = [home, away].map((thread, place) => {
        const record = pending(`bg_${n * 2 + place}`, { key: thread })
        return accepting(record, { key: { key: `k${n}`, digest: 'd', task: record.id } })
      })
      const [first = [], second = []] = await Promise.all(
        [one, two].map((store, place) => codes(store, uses.slice(place, place + 1))),
      )
      expect([...first, ...second].sort()).toEqual(['committed', 'key_taken'])
    }
  })

  it('allocate task numbers of which no two are the same', async () => {
    const [one, two] = await openTwo()
    const firsts = await Promise.all(upTo(30).map((n) => (n % 2 === 0 ? one : two).allocate(2)))
    expect(firsts.sort((a, b) => a - b)).toEqual(upTo(30).map((n) => (n - 1) * 2))
  })

  it('keep a lease by the clock of the server, and take over what its node left when it is over', async () => {
    const [one, two] = await openTwo()
    const claim = () => two.claim({ node: 'node_2', agents: ['echo'], starts: 9, orphans: 9, withCounts: false })
    await one.renew('node_1', 60_000)
    await commit(one, accepting(running('bg_0')))
    expect(idsOf((await claim()).orphans)).toEqual([])
    const takeover = starting(running('bg_0', { epoch: 2, node: 'node_2' }), { rev: 0, lapsed: 'node_1' })
    expect(await refused(two, takeover)).toEqual({ code: 'leased' })
    await one.renew('node_1', 1)
    await expect.poll(async () => idsOf((await claim()).orphans)).toEqual(['bg_0'])
    await commit(two, takeover)
    expect(await refused(one, fenced('bg_0', 1))).toEqual({ code: 'fenced' })
    expect(await one.renew('node_1', 60_000)).toEqual({ wasHeld: false })
  })

  it('keep the leases of others when one of them starts', async () => {
    const one = await open()
    await one.renew('node_1', 60_000)
    await commit(one, accepting(running('bg_0')))
    const two = await open()
    const { orphans } = await two.claim({ node: 'n', agents: ['echo'], starts: 9, orphans: 9, withCounts: false })
    expect(orphans).toEqual([])
  })

  it('tell each other which threads they wrote to, and not themselves', async () => {
    const [one, two] = await openTwo()
    const heard = await heardBy(two)
    await commit(two, unit({ thread: away, events: deltas(1) }))
    await commit(one, unit({ events: deltas(1) }))
    await expect.poll(() => heard).toEqual([home])
  })

  it('tell each other of more threads than one notice holds, and of none that was refused', async () => {
    const [one, two] = await openTwo()
    const heard = await heardBy(two)
    const keys = upTo(200).map((n) => threadKey(alice, threadId(`${'x'.repeat(100)}${n}`)))
    await one.commit([unit({ rev: 9 }), ...keys.map((thread) => unit({ thread, events: deltas(1) }))])
    await expect.poll(() => new Set(heard)).toEqual(new Set(keys))
  })

  it('hear each other again after the connection that listens was killed', async () => {
    const [one, two] = await openTwo()
    const heard = await heardBy(two)
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN ${schema.name}'`
    await schema.query(kill)
    await expect
      .poll(async () => {
        await commit(one, unit({ events: deltas(1) }))
        return heard.length
      })
      .toBeGreaterThan(0)
    expect(warnings).toEqual([])
  })

  it('go on when the server kills every connection', async () => {
    const [one, two] = await openTwo()
    await commit(one, unit({ events: deltas(1) }))
    await commit(two, unit({ events: deltas(1) }))
    const own = `application_name = 'holdfast' AND query LIKE '%${schema.name}%'`
    const killed = await schema.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${own}`)
    expect(killed.length).toBeGreaterThan(2)
    await expect.poll(() => commitOne(one, unit({ events: deltas(1) })).catch(() => 'down')).toMatchObject({ first: 3 })
    await expect.poll(() => logOf(two).then(numbersOf, () => 'down')).toEqual(upTo(3))
  })

  it('say once that notices do not arrive, and work without them', async () => {
    proxy = await startProxy(Number(new URL(inject('postgresUrl')).port))
    proxy.dropNotices()
    const store = await open(proxy.through(schema.url))
    const heard = await heardBy(store)
    await expect.poll(() => warnings, { timeout: 10_000 }).toHaveLength(1)
    expect(warnings[0]).toContain('polling')
    await commit(store, unit({ events: deltas(1) }))
    expect(heard).toEqual([])
  })
})
