import { expect, it } from 'vitest'
import { principal, threadId, threadKey } from '../../src/core/id.ts'
import type { Unit } from '../../src/core/unit.ts'
import type { AgentContext } from '../../src/index.ts'
import { deltas, unit } from '../../src/testing/store-suite/builders.ts'
import { answered, echo, keptOf, nothing } from './pruned.ts'
import { eventsUntil, onEachStore, type World } from './world.ts'

const thread = 't'
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

function keyOf(name: string) {
  return threadKey(principal('owner'), threadId(name))
}

/** A log of `count` rows, each of which was a commit of its own. */
async function writeRows(here: World, name: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await here.store.commit([unit({ thread: keyOf(name), events: deltas(1) })])
}

/** Minutes one by one, each when nothing is being done: more than one round of a policy. */
async function pass(here: World, minutes: number): Promise<void> {
  for (let n = 0; n < minutes; n++) {
    await here.quiet()
    await here.clock.advance(minuteMs)
  }
  await here.quiet()
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('a policy is applied about every minute, to the threads of all principals', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo }, retention: { eventsMs: 30_000, eventsPerThread: 100 } })
    const others = ['a', 'b', 'c'].map((name) => runtime.as(name))
    for (const each of [runtime, ...others]) await answered(each, thread, 'old')
    const { head } = await runtime.thread(thread)
    await here.clock.advance(31_000)
    for (const each of others) await answered(each, thread, 'new')
    await here.quiet()
    expect((await keptOf(runtime, thread)).first).toBe(1)
    await here.clock.advance(29_000)
    await here.quiet()
    for (const each of others) expect((await keptOf(each, thread)).first).toBe(head + 1)
    // The newest event of a thread is kept, in the row that it is in.
    expect((await keptOf(runtime, thread)).first).toBeGreaterThan(1)
    expect((await runtime.messages(thread)).length).toBe(2)
  })

  it('a policy drops old threads, also those that an earlier process left half way', async () => {
    const here = world()
    const before = await here.open({ agents: { echo } })
    for (const each of [before, before.as('other')]) await answered(each, thread, 'old')
    await before.close()
    await here.clock.advance(dayMs)
    const runtime = await here.open({ agents: { echo }, retention: { threadsMs: dayMs } })
    await answered(runtime, 'new', 'new')
    await pass(here, 1)
    expect((await runtime.threads()).threads.map((each) => each.thread)).toEqual(['new'])
    expect((await runtime.as('other').threads()).threads).toEqual([])
    expect((await runtime.thread(thread)).messages).toEqual([])
  })

  it('a policy that cannot be is refused when the node opens', async () => {
    const here = world()
    for (const retention of [{ eventsMs: 0 }, { eventsPerThread: -1 }, { threadsMs: dayMs - 1 }]) {
      await expect(here.open({ retention })).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  it('a store that is down during a round is said in the log, and the next round goes on', async () => {
    const here = world()
    const warned: string[] = []
    const warn = (_facts: object, text: string) => warned.push(text)
    const log = { debug() {}, info() {}, error() {}, warn }
    const runtime = await here.open({ agents: { echo }, retention: { eventsPerThread: 1 }, log })
    await answered(runtime, thread, 'a')
    here.store.down()
    await pass(here, 1)
    expect(warned.filter((text) => text.includes('retention'))).toHaveLength(1)
    here.store.up()
    await pass(here, 2)
    expect((await keptOf(runtime, thread)).first).toBeGreaterThan(1)
  })

  it('a node that closes in the middle of a round stops it, and the next node goes on', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo }, retention: { eventsPerThread: 1 } })
    for (const name of ['a', 'b', 'c']) await answered(runtime, name, 'old')
    await here.quiet()
    const held = here.store.hold()
    const round = here.clock.advance(minuteMs)
    await held.reached
    const closing = runtime.close()
    held.open()
    await Promise.all([round, closing])
    const next = await here.open({ agents: { echo }, retention: { eventsPerThread: 1 } })
    const kept = await Promise.all(['a', 'b', 'c'].map((name) => keptOf(next, name)))
    expect(kept.filter(({ first }) => first > 1).length).toBe(1)
    await pass(here, 1)
    for (const name of ['a', 'b', 'c']) expect((await keptOf(next, name)).first).toBeGreaterThan(1)
  })

  it('a node closes when its time is over, though nobody can tell what became of a trim', async () => {
    const here = world()
    const runtime = await here.open({ agents: { echo }, retention: { eventsPerThread: 1 } })
    await answered(runtime, thread, 'old')
    await here.quiet()
    const held = here.store.hold()
    const round = here.clock.advance(minuteMs)
    await held.reached
    held.beLate()
    let isClosed = false
    const closing = runtime.close({ drainMs: 500 }).then(() => {
      isClosed = true
    })
    await Promise.all([round, here.clock.advance(499)])
    expect(isClosed).toBe(false)
    await here.clock.advance(1)
    await closing
    held.open()
  })

  it('a prune of many threads answers with a cursor, from which it goes on', async () => {
    const here = world()
    const runtime = await here.open()
    const units = Array.from({ length: 2_100 }, (_, n) => unit({ thread: keyOf(`t${n}`), events: deltas(1) }))
    await here.store.commit(units)
    await here.store.commit(units)
    const first = await runtime.prune({ eventsPerThread: 1 })
    expect(first.cursor).toBeDefined()
    expect(first.events).toBeGreaterThan(0)
    let { cursor, events } = first
    while (cursor !== undefined) {
      const next = await runtime.prune({ eventsPerThread: 1, cursor })
      events += next.events
      cursor = next.cursor
    }
    expect(events).toBe(2_100)
    expect(await runtime.prune({ eventsPerThread: 1, threadsMs: dayMs, dryRun: true })).toMatchObject(nothing)
  })

  it('what others write goes in between the steps of a prune', async () => {
    const here = world()
    const ready = Promise.withResolvers<AgentContext>()
    const end = Promise.withResolvers<void>()
    const beside = (ctx: AgentContext) => {
      ready.resolve(ctx)
      return end.promise
    }
    const runtime = await here.open({ agents: { beside } })
    await writeRows(here, thread, 700)
    await runtime.run({ thread: 'beside', agent: 'beside', prompt: 'go' })
    const ctx = await ready.promise
    await here.quiet()
    const batches: Unit[][] = []
    here.store.plan((units) => {
      batches.push([...units])
      return 'none'
    })
    const held = here.store.hold()
    const pruning = runtime.prune({ eventsPerThread: 1 })
    await held.reached
    for (let n = 0; n < 20; n++) void ctx.emit('beside', { n })
    held.open()
    expect(await pruning).toEqual({ ...nothing, events: 699 })
    await eventsUntil(
      runtime,
      { thread: 'beside' },
      (event) => event.type === 'custom' && JSON.stringify(event.data.payload) === '{"n":19}',
    )
    const trims = batches.flatMap((units, n) => units.filter(({ trim }) => trim !== undefined).map(() => n))
    expect(batches.findIndex((units) => units.some(({ operation }) => operation === 'emit'))).toBe(1)
    // One step per commit: what is asked for next waits for its answer.
    expect(new Set(trims).size).toBe(trims.length)
    expect(trims[0]).toBe(0)
    if (kind === 'sqlite') expect(trims.length).toBeGreaterThanOrEqual(3)
    end.resolve()
  })
})
