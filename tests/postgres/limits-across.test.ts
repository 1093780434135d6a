import { describe, expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { manualClock } from '../../src/testing/index.ts'
import { accepting, commit, idsOf, pending, running } from '../../src/testing/store-suite/builders.ts'
import { gate } from '../scenarios/world.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'
import { lapse, severalNodes } from './several-nodes.ts'

const nodes = severalNodes()

/** An agent whose every task runs until the test lets it end, and how many there are and were at most, over all nodes. */
function counting(concurrency: number) {
  const seen = { now: 0, most: 0 }
  const stop = gate()
  const ends: (() => void)[] = []
  const run = async (ctx: AgentContext) => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    try {
      const ended = new Promise<void>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve())
        ends.push(resolve)
      })
      await Promise.race([stop.opened, ended])
    } finally {
      seen.now -= 1
    }
  }
  const endSome = (count: number) => {
    for (const end of ends.splice(0, count)) end()
  }
  return { seen, stop, endSome, agent: { run, concurrency } }
}

const spawnMany = (runtimes: readonly Runtime[], agent: string, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) => {
      const runtime = runtimes[n % runtimes.length]
      if (!runtime) throw new Error('There is a node')
      return runtime.spawn({ thread: `t${n}`, agent })
    }),
  )

describe('an agent with a limit, on three nodes', () => {
  it('executes at most as much on all of them, as soon as they have heard of each other', async () => {
    const { seen, stop, endSome, agent } = counting(4)
    const agents = { few: agent, free: () => 'done' }
    const counts = [0, 0, 0]
    const open = (node: number) => nodes.open({ agents, onCounted: () => (counts[node] = (counts[node] ?? 0) + 1) })
    const runtimes = [await open(0), await open(1), await open(2)]
    // The first of three may be under way already, and the second is of what others had said before theirs.
    const allHaveHeard = async () => {
      const before = [...counts]
      const least = () => Math.min(...counts.map((count, node) => count - (before[node] ?? 0)))
      await expect.poll(least, { timeout: 20_000 }).toBeGreaterThanOrEqual(3)
    }
    const tasks = await spawnMany(runtimes, 'few', 30)
    await expect.poll(() => seen.now).toBeGreaterThanOrEqual(4)
    // Not one by one: claims of two nodes that overlap may both see the same room.
    expect(seen.most).toBeLessThanOrEqual(3 * 4)
    await allHaveHeard()
    // From now on nothing begins before fewer than four execute, however many did.
    endSome(seen.now - 4)
    await expect.poll(() => seen.now).toBe(4)
    seen.most = seen.now
    await allHaveHeard()
    expect(seen).toEqual({ now: 4, most: 4 })
    const others = await spawnMany(runtimes, 'free', 6)
    for (const { id } of others) expect(await runtimes[0]?.wait(id)).toMatchObject({ status: 'completed' })
    stop.open()
    for (const { id } of tasks) expect(await runtimes[0]?.wait(id)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  it('starts nothing on a node that comes while others execute as much as they may', async () => {
    const { seen, stop, agent } = counting(2)
    const one = await nodes.open({ agents: { few: agent } })
    const tasks = await spawnMany([one], 'few', 6)
    await expect.poll(() => seen.now).toBe(2)
    const two = await nodes.open({ agents: { few: agent } })
    const other = await two.spawn({ thread: 'other', run: () => 'done' })
    await two.wait(other.id)
    expect(seen).toEqual({ now: 2, most: 2 })
    stop.open()
    for (const { id } of tasks) expect(await two.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('makes room when a node dies, for what that had begun', async () => {
    const { seen, stop, agent } = counting(2)
    const one = await nodes.open({ agents: { few: agent }, isDeaf: true })
    const tasks = await spawnMany([one], 'few', 4)
    await expect.poll(() => seen.now).toBe(2)
    const two = await nodes.open({ agents: { few: agent } })
    await lapse(nodes, one)
    const attempts = async () => (await Promise.all(tasks.map(({ id }) => two.get(id)))).map((task) => task?.attempt)
    await expect.poll(attempts).toContain(2)
    stop.open()
    for (const { id } of tasks) expect(await two.wait(id)).toMatchObject({ status: 'completed' })
  })
})

describe('open tasks of a principal, on two nodes', () => {
  it('are passed by no more than each node accepts before it counts, and by nothing after', async () => {
    const stop = gate()
    const slow = () => stop.opened
    const limits = { openTasksPerPrincipal: 5 }
    const open = () => nodes.open({ agents: { slow }, limits, isDeaf: true })
    const runtimes = [await open(), await open()]
    const asked = runtimes.flatMap((runtime, node) =>
      Array.from({ length: 20 }, (_, n) => runtime.spawn({ thread: `t${node}-${n}`, agent: 'slow' })),
    )
    const answers = await Promise.allSettled(asked)
    const accepted = answers.filter(({ status }) => status === 'fulfilled').length
    expect(accepted).toBeGreaterThanOrEqual(5)
    expect(accepted).toBeLessThanOrEqual(10)
    const late = (runtime: Runtime) =>
      runtime.spawn({ thread: 'late', agent: 'slow' }).then(
        () => 'accepted',
        (error: unknown) => (error as { readonly code: string }).code,
      )
    const refused = ['limit_reached', 'limit_reached']
    await expect.poll(() => Promise.all(runtimes.map(late)), { interval: 1_100 }).toEqual(refused)
    expect((await runtimes[0]?.list({ limit: 100 }))?.tasks.length).toBeLessThanOrEqual(10)
    stop.open()
  })
})

describe('a claim of an agent with a limit', () => {
  const clock = manualClock()

  async function withStore(use: (store: Store, schema: TestSchema) => Promise<void>): Promise<void> {
    const schema = testSchema()
    const store = postgresStore({ url: schema.url, clock })
    await store.open()
    try {
      await store.renew('node_1', 10_000)
      await store.renew('node_2', 10_000)
      await use(store, schema)
    } finally {
      await store.close()
      await schema.drop()
    }
  }

  const claim = async (store: Store, node: string, max: number, executing: number) => {
    const limits = new Map([['echo', { max, executing }]])
    const query = { node, agents: ['echo'], starts: 10, orphans: 10, withCounts: false, limits }
    const { starts, orphans, elsewhere, isPartial } = await store.claim(query)
    return { starts: idsOf(starts), orphans: idsOf(orphans), elsewhere: elsewhere?.get('echo') ?? 0, isPartial }
  }

  it('counts what other nodes execute and were offered', () =>
    withStore(async (store) => {
      await commit(store, ...[0, 1, 2, 3, 4].map((n) => accepting(pending(`bg_${n}`))))
      expect(await claim(store, 'node_1', 3, 0)).toMatchObject({ starts: ['bg_0', 'bg_1', 'bg_2'], elsewhere: 0 })
      expect(await claim(store, 'node_2', 3, 0)).toMatchObject({ starts: [], elsewhere: 3 })
      // One of them did not start.
      expect(await claim(store, 'node_1', 2, 2)).toMatchObject({ starts: [], elsewhere: 0 })
      expect(await claim(store, 'node_2', 3, 0)).toMatchObject({ starts: ['bg_3'], elsewhere: 2 })
      expect(await claim(store, 'node_1', 3, 2)).toMatchObject({ starts: [], elsewhere: 1 })
    }))

  it('does not count a node whose lease is over, and offers what it had', () =>
    withStore(async (store) => {
      await commit(store, accepting(running('bg_0', { node: 'node_1' })), accepting(pending('bg_1')))
      await claim(store, 'node_1', 1, 1)
      expect(await claim(store, 'node_2', 1, 0)).toMatchObject({ starts: [], orphans: [], elsewhere: 1 })
      await store.renew('node_1', 0)
      expect(await claim(store, 'node_2', 1, 0)).toMatchObject({ orphans: ['bg_0'], elsewhere: 0 })
    }))

  it('writes down what a node executes, also while it is alone, and nothing twice', () =>
    withStore(async (store, schema) => {
      const rows = () => schema.query('SELECT xmin::text, executing FROM holdfast.nodes WHERE id = $1', ['node_1'])
      await store.renew('node_2', 0)
      await claim(store, 'node_1', 5, 4)
      const before = await rows()
      expect(before).toMatchObject([{ executing: { echo: 4 } }])
      await claim(store, 'node_1', 5, 4)
      expect(await rows()).toEqual(before)
      await claim(store, 'node_1', 5, 0)
      expect(await rows()).toMatchObject([{ executing: {} }])
    }))
})
