import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import type { ThreadKey } from '../../src/core/id.ts'
import { taskId, threadId, threadKey } from '../../src/core/id.ts'
import { Connection } from '../../src/stores/postgres/connection.ts'
import { Opener } from '../../src/stores/postgres/connections.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { Lane } from '../../src/stores/postgres/lane.ts'
import { locate } from '../../src/stores/postgres/location.ts'
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
import { listening, ownDatabase, type TestSchema, testSchema } from './harness/schema.ts'

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
async function heardBy(store: Store, isOfInterest = (_isChanged: boolean) => true): Promise<ThreadKey[]> {
  const heard: ThreadKey[] = []
  store.watch((key, isChanged) => isOfInterest(isChanged) && heard.push(key))
  await expect.poll(() => listeners()).toBeGreaterThan(0)
  return heard
}

async function listeners(): Promise<number> {
  return (await schema.query(`SELECT ${listening}`)).length
}

/** How many statements wait for a lock. */
async function waiters(): Promise<number> {
  const own = `query LIKE '%${schema.name}%' AND wait_event_type = 'Lock'`
  return (await schema.query(`SELECT FROM pg_stat_activity WHERE ${own}`)).length
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
    // In a database of its own: they are counted for all schemas of one, and other tests use theirs meanwhile.
    schema = await ownDatabase()
    const nodes = [await open(), await open(), await open()]
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
    expect(await deadlocks()).toBe(0)
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
    await two.renew('node_2', 60_000)
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
    await two.renew('n', 60_000)
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

  it('tells threads whose log has grown from those of which more has changed', async () => {
    const [one, two] = await openTwo()
    const [changed, grown] = [
      await heardBy(two, (isChanged) => isChanged),
      await heardBy(two, (isChanged) => !isChanged),
    ]
    await commit(one, unit({ thread: home, rev: 0, events: deltas(1) }), unit({ thread: away, events: deltas(1) }))
    await expect.poll(() => [changed, grown]).toEqual([[home], [away]])
    await commit(one, unit({ thread: away, rev: 0, events: deltas(1) }), unit({ thread: away, events: deltas(1) }))
    await expect.poll(() => [changed, grown]).toEqual([[home, away], [away]])
  })

  it('hear each other again after the connection that listens was killed', async () => {
    const [one, two] = await openTwo()
    const heard = await heardBy(two)
    await schema.query(`SELECT pg_terminate_backend(pid) ${listening}`)
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
    await expect.poll(() => warnings).toHaveLength(1)
    expect(warnings[0]).toContain('polling')
    await commit(store, unit({ events: deltas(1) }))
    expect(heard).toEqual([])
  })
})

describe('a node on a busy database', () => {
  it('renews its lease, claims and decides while every connection that reads waits', async () => {
    const store = await open()
    await store.renew('node_1', 60_000)
    await commit(store, accepting(pending('bg_0')))
    const letGo = await schema.hold('LOCK TABLE holdfast.messages IN ACCESS EXCLUSIVE MODE')
    const reads = upTo(8).map(() => store.messages(home, { limit: 1 }))
    await expect.poll(() => waiters()).toBeGreaterThanOrEqual(6)
    expect(await store.renew('node_1', 60_000)).toEqual({ wasHeld: true })
    const claim = { node: 'node_1', agents: ['echo'], starts: 9, orphans: 9, withCounts: false }
    expect(idsOf((await store.claim(claim)).starts)).toEqual(['bg_0'])
    expect((await store.livePart(home))?.tasks).toHaveLength(1)
    expect(await store.allocate(1)).toBe(1)
    expect(await store.moved?.([{ key: home, head: 0, rev: 0 }])).toHaveLength(1)
    await letGo()
    expect(await Promise.all(reads)).toEqual(upTo(8).map(() => ({ messages: [] })))
  })

  it('gives up waiting for a lock in a commit, also where nothing stays set on its connection', async () => {
    await commit(await open(), unit({ events: deltas(1) }))
    const letGo = await schema.hold('SELECT FROM holdfast.threads FOR UPDATE')
    const place = locate(schema.url)
    const lane = new Lane(new Opener(() => Connection.open(place, {})), place.name, 100)
    const refusal = { code: 'thread_locked', message: expect.stringContaining('55P03') }
    await expect(lane.commit([unit({ events: deltas(1) })], () => undefined)).rejects.toMatchObject(refusal)
    await letGo()
    expect((await lane.commit([unit({ events: deltas(1) })], () => undefined)).verdicts).toMatchObject([{ first: 2 }])
    await lane.close()
  })

  it('is not taken for away while a table is held by somebody who lets it go for whoever waits, as VACUUM does', async () => {
    const store = await open()
    await commit(store, unit({ events: deltas(1) }))
    const table = `'holdfast.chunks'::regclass`
    const vacuum = schema.query(`DO $$ BEGIN
      LOCK TABLE holdfast.chunks IN ACCESS EXCLUSIVE MODE;
      WHILE NOT EXISTS (SELECT FROM pg_locks WHERE relation = ${table} AND NOT granted) LOOP
        PERFORM pg_sleep(0.002);
      END LOOP;
    END $$`)
    const holders = `SELECT FROM pg_locks WHERE relation = ${table} AND mode = 'AccessExclusiveLock' AND granted`
    await expect.poll(() => schema.query(holders)).toHaveLength(1)
    expect(await store.commit([])).toEqual([])
    await vacuum
  })

  it('waits for no other store of the database that takes the same Idempotency-Key', async () => {
    const other = testSchema()
    const [here, there] = [await open(), await open(other.url)]
    // The first commit of a connection takes long.
    for (const store of [here, there]) await commit(store, unit({ events: deltas(1) }))
    const keyed = (id: string) => accepting(pending(id), { key: { key: 'k', digest: 'd', task: taskId(id) } })
    const letGo = await schema.hold('LOCK TABLE holdfast.tasks IN ACCESS EXCLUSIVE MODE')
    const waiting = here.commit([keyed('bg_0')])
    await expect.poll(() => waiters()).toBe(1)
    expect(await there.commit([keyed('bg_1')])).toMatchObject([{ committed: true }])
    await letGo()
    expect(await waiting).toMatchObject([{ committed: true }])
    await there.close()
    await other.drop()
  })
})
