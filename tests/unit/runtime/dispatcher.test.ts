import { expect, it } from 'vitest'
import { type AgentContext, createRuntime, HoldfastError } from '../../../src/index.ts'
import type { ClaimQuery } from '../../../src/stores/claim.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { forever } from '../../scenarios/attempts.ts'
import { counterOf } from '../../scenarios/counters.ts'
import { passTime } from '../../scenarios/pass-time.ts'
import { gate } from '../../scenarios/world.ts'

it('a node that cannot write asks for no work, which another could do, and takes it up when it can', async () => {
  const clock = manualClock()
  const store = faultyStore(memoryStore({ clock }))
  const claims: ClaimQuery[] = []
  const claim: Store['claim'] = (query) => {
    if (!query.withCounts) claims.push(query)
    return store.claim(query)
  }
  const runtime = createRuntime({ store: { ...store, claim }, clock, agents: { echo: () => 'done' } })
  await runtime.opened()
  await clock.advance(1_000)
  expect(claims.length).toBeGreaterThan(0)
  store.down()
  const refused = { code: 'store_unavailable' }
  await expect(runtime.run({ thread: 't', agent: 'echo', prompt: 'go' })).rejects.toMatchObject(refused)
  claims.length = 0
  await clock.advance(10_000)
  expect(claims).toEqual([])
  store.up()
  await clock.advance(3_000)
  expect(claims.length).toBeGreaterThan(0)
  const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'go' })
  expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  await runtime.close({ drainMs: 0 })
})

it('a slot that gets free is no reason to ask for work while none waits, and starts what waits', async () => {
  const clock = manualClock()
  const store = faultyStore(memoryStore({ clock }))
  let claimCount = 0
  const claim: Store['claim'] = (query) => {
    if (!query.withCounts) claimCount += 1
    return store.claim(query)
  }
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const agents = { echo: () => 'done', busy: () => held }
  const runtime = createRuntime({ store: { ...store, claim }, clock, agents, concurrency: 1 })
  await runtime.opened()
  await clock.advance(1_000)
  claimCount = 0
  for (const thread of ['a', 'b', 'c']) {
    const { id } = await runtime.run({ thread, agent: 'echo', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  }
  expect(claimCount).toBe(0)
  await runtime.run({ thread: 'a', agent: 'busy', prompt: 'go' })
  const waiting = await runtime.run({ thread: 'b', agent: 'echo', prompt: 'go' })
  expect(waiting.status).toBe('pending')
  release()
  expect(await runtime.wait(waiting.id)).toMatchObject({ status: 'completed' })
  await runtime.close({ drainMs: 0 })
})

it('a node that leaves work to another looks again after a moment, however much it writes itself', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock })
  let lookCount = 0
  const claim: Store['claim'] = async (query) => {
    const offer = await store.claim(query)
    if (query.starts === 0) return offer
    lookCount += 1
    return { ...offer, hasLeft: true }
  }
  const changed = new Proxy(store, { get: (target, name) => (name === 'claim' ? claim : bound(target, name)) })
  const [begun, go] = [gate(), gate()]
  const chatty = async (ctx: AgentContext) => {
    begun.open()
    await go.opened
    for (let n = 0; n < 100; n++) await ctx.step(`${n}`, () => ctx.emit('x'))
  }
  const runtime = createRuntime({ store: changed, clock, agents: { chatty } })
  const { id } = await runtime.run({ thread: 't', agent: 'chatty', prompt: 'go' })
  await begun.opened
  await clock.advance(25)
  lookCount = 0
  go.open()
  await clock.advance(25)
  await runtime.wait(id)
  expect(lookCount).toBeLessThanOrEqual(2)
  expect(lookCount).toBeGreaterThan(0)
  await runtime.close({ drainMs: 0 })
})

it('a node that closes asks for no work while its retention waits for the store', async () => {
  const clock = manualClock()
  const store = faultyStore(memoryStore({ clock }))
  let claimCount = 0
  const claim: Store['claim'] = (query) => {
    if (!query.withCounts) claimCount += 1
    return store.claim(query)
  }
  const threads: Store['threads'] = () => new Promise(() => {})
  const retention = { eventsPerThread: 1 }
  const runtime = createRuntime({ store: { ...store, claim, threads }, clock, retention })
  await runtime.opened()
  await clock.advance(60_000)
  const closing = runtime.close({ drainMs: 5_000 })
  claimCount = 0
  await clock.advance(5_000)
  await closing
  expect(claimCount).toBe(0)
})

it('the size of the store is asked for once a minute, and told at any time', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const withBytes: (boolean | undefined)[] = []
  const claim: Store['claim'] = async (query) => {
    const { counts, ...offer } = await store.claim(query)
    if (!counts) return offer
    withBytes.push(query.withBytes)
    return { ...offer, counts: { ...counts, ...(query.withBytes && { bytes: 4711 }) } }
  }
  const changed = new Proxy(store, { get: (target, name) => (name === 'claim' ? claim : bound(target, name)) })
  const runtime = createRuntime({ store: changed, clock })
  await runtime.opened()
  await clock.advance(59_000)
  expect(withBytes.filter(Boolean)).toHaveLength(1)
  expect(await counterOf(runtime, 'holdfast_store_bytes')).toBe(4711)
  await clock.advance(1_000)
  expect(withBytes.filter(Boolean)).toHaveLength(2)
  await runtime.close({ drainMs: 0 })
})

function bound(store: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name, store)
  return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(store) : value
}

it('a thread that cannot be read keeps no slot from what waits behind it', async () => {
  const inner = memoryStore()
  const crashing = faultyStore(inner)
  const before = createRuntime({ store: crashing, clock: manualClock(0), agents: { echo: forever }, concurrency: 1 })
  await before.run({ thread: 'first', agent: 'echo', prompt: 'go' })
  const bad = await before.run({ thread: 'bad', agent: 'echo', prompt: 'go' })
  const good = await before.run({ thread: 'good', agent: 'echo', prompt: 'go' })
  await crashing.crash()
  let isBad = true
  const livePart: Store['livePart'] = async (key) => {
    if (isBad && key === 'owner/bad') throw new Error('a row cannot be read')
    return inner.livePart(key)
  }
  const clock = manualClock(0)
  const store = { ...faultyStore(inner), livePart }
  const runtime = createRuntime({ store, clock, agents: { echo: () => 'done' }, concurrency: 1 })
  expect(await passTime(clock, runtime.wait(good.id))).toMatchObject({ status: 'completed' })
  expect(await inner.task(bad.id)).toMatchObject({ status: 'pending' })
  isBad = false
  expect(await passTime(clock, runtime.wait(bad.id))).toMatchObject({ status: 'completed' })
  await runtime.close({ drainMs: 0 })
})

it('a function in a thread that is locked keeps no slot from those that wait behind it', async () => {
  const base = faultyStore(memoryStore())
  let isLocked = false
  const commit: Store['commit'] = async (units, onLate) => {
    const isOfIt = units.some(({ thread }) => thread === 'owner/locked')
    if (isLocked && isOfIt) throw new HoldfastError('thread_locked', 'Another program holds it')
    return base.commit(units, onLate)
  }
  const clock = manualClock(0)
  const runtime = createRuntime({ store: { ...base, commit }, clock, concurrency: 1 })
  const freed = gate()
  await runtime.spawn({ thread: 'first', run: () => freed.opened })
  const locked = await runtime.spawn({ thread: 'locked', run: () => 'done' })
  const behind = await runtime.spawn({ thread: 'behind', run: () => 'done' })
  isLocked = true
  freed.open()
  expect(await passTime(clock, runtime.wait(behind.id))).toMatchObject({ status: 'completed' })
  isLocked = false
  expect(await passTime(clock, runtime.wait(locked.id))).toMatchObject({ status: 'completed' })
  await runtime.close({ drainMs: 0 })
})

/**
 * A runtime whose one slot is taken by `first`, and that is to end an orphan whose log it cannot read before it is let. Another waits
 * for the slot.
 */
async function endingForLong() {
  const inner = memoryStore()
  const crashing = faultyStore(inner)
  const busy = { busy: forever }
  const before = createRuntime({ store: crashing, clock: manualClock(0), agents: busy, concurrency: 3 })
  await before.run({ thread: 'first', agent: 'busy', prompt: 'go' })
  const orphan = await before.run({ thread: 'orphan', agent: 'busy', prompt: 'go' })
  const other = await before.run({ thread: 'other', agent: 'busy', prompt: 'go' })
  await before.cancel(orphan.id)
  await crashing.crash()
  const [read, readable, freed] = [gate(), gate(), gate()]
  const events: Store['events'] = async (key, query) => {
    if (key === 'owner/orphan' && query.toDecide) {
      read.open()
      await readable.opened
    }
    return inner.events(key, query)
  }
  const clock = manualClock(0)
  const agents = { busy: () => freed.opened, echo: () => 'done' }
  const runtime = createRuntime({ store: { ...faultyStore(inner), events }, clock, agents, concurrency: 1 })
  await passTime(clock, read.opened)
  return { runtime, clock, orphan: orphan.id, other: other.id, readable, freed }
}

it('what is long to end keeps nothing from being started when a slot gets free', async () => {
  const { runtime, clock, orphan, readable, freed } = await endingForLong()
  const { id } = await runtime.run({ thread: 'next', agent: 'echo', prompt: 'go' })
  freed.open()
  expect(await passTime(clock, runtime.wait(id))).toMatchObject({ status: 'completed' })
  readable.open()
  expect(await passTime(clock, runtime.wait(orphan))).toMatchObject({ status: 'cancelled' })
  await runtime.close({ drainMs: 0 })
})

it('what is long to end keeps nothing else from being ended', async () => {
  const { runtime, clock, orphan, other, readable } = await endingForLong()
  await runtime.cancel(other)
  expect(await passTime(clock, runtime.wait(other))).toMatchObject({ status: 'cancelled', attempt: 1 })
  expect(await runtime.get(orphan)).toMatchObject({ status: 'running' })
  readable.open()
  expect(await passTime(clock, runtime.wait(orphan))).toMatchObject({ status: 'cancelled' })
  await runtime.close({ drainMs: 0 })
})

it('a drain ends in time though what is taken over is still being read', async () => {
  const { runtime, clock, readable } = await endingForLong()
  await passTime(clock, runtime.close({ drainMs: 1_000 }))
  readable.open()
})

it('a function whose start is being committed takes no second slot', async () => {
  const clock = manualClock()
  const store = faultyStore(memoryStore({ clock }))
  const runtime = createRuntime({ store, clock, agents: {}, concurrency: 2 })
  await runtime.opened()
  const held = store.hold()
  const first = runtime.spawn({ thread: 't', run: forever })
  await held.reached
  await clock.advance(1_000)
  const second = runtime.spawn({ thread: 't', run: forever })
  held.open()
  expect(await Promise.all([first, second])).toMatchObject([{ status: 'running' }, { status: 'running' }])
  await runtime.close({ drainMs: 0 })
})
