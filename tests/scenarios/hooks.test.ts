import { expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import { echoAgent } from '../../src/index.ts'
import { hearing } from './hearing.ts'
import { gate, onEachStore, type StoreKind } from './world.ts'

const agents = {
  echo: echoAgent(),
  fails: () => {
    throw new Error('no luck')
  },
}

// Where several nodes look, a call that was claimed by one that died is made when the time of its claim is over.
const claimedMs = (kind: StoreKind): number => (kind === 'postgres' ? 45_000 : 0)

/** Says what became of a call; a claim of one uses a key up. */
const isSettling = ({ operation, key }: Unit): boolean => operation === 'hook' && key === undefined

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('onEnded is called for every task that ends, with its result or error, once if it answers', async () => {
    const here = world()
    const { told, onEnded } = hearing()
    const runtime = await here.open({ agents, onEnded })
    const run = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    const failing = await runtime.as('other').spawn({ thread: 't', agent: 'fails' })
    const held = gate()
    const parent = await runtime.spawn({
      thread: 'tree',
      run: async (ctx) => {
        await ctx.spawn({ run: (child) => held.opened.then(() => child.say('never')), name: 'child' })
        return 'done'
      },
    })
    for (const { id } of [run, parent]) await runtime.wait(id)
    await runtime.as('other').wait(failing.id)
    held.open()
    await here.clock.advance(10_000)
    await here.quiet()
    const child = (await runtime.list({ thread: 'tree', name: 'child' })).tasks[0]
    expect(told.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
      { id: run.id, status: 'completed', attempt: 1 },
      { id: failing.id, status: 'failed', error: { code: 'agent_error', message: 'no luck' }, attempt: 1 },
      { id: parent.id, status: 'completed', result: 'done', attempt: 1 },
      { id: child?.id, status: 'cancelled', error: { code: 'cancelled' }, attempt: 1 },
    ])
    expect(new Set(told.map(({ key }) => key)).size).toBe(4)
    expect((await runtime.get(run.id))?.hook).toBeUndefined()
  })

  it('onEnded that fails is called again, later each time, and its last failure is shown', async () => {
    const here = world()
    let failures = 2
    const { told, onEnded } = hearing(() => {
      if (failures-- > 0) throw new Error(`not now ${failures}\nat somewhere`)
    })
    const warned: object[] = []
    const log = { debug() {}, info() {}, error() {}, warn: (facts: object) => void warned.push(facts) }
    const runtime = await here.open({ agents, onEnded, log })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await runtime.wait(id)
    await here.quiet()
    const first = (await runtime.get(id))?.hook
    expect(first).toMatchObject({ attempts: 1, error: 'not now 1' })
    expect(first?.nextAt).toBeGreaterThanOrEqual(here.clock.now() + 800)
    expect(first?.nextAt).toBeLessThanOrEqual(here.clock.now() + 1000)
    expect(warned).toMatchObject([{ task: id, attempt: 1 }])
    await here.clock.advance(2000)
    await here.quiet()
    const second = (await runtime.get(id))?.hook
    expect(second).toMatchObject({ attempts: 2, error: 'not now 0' })
    await here.clock.advance(4000)
    await here.quiet()
    expect((await runtime.get(id))?.hook).toBeUndefined()
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(new Set(told.map(({ key }) => key)).size).toBe(1)
    await here.clock.advance(60_000)
    expect(told).toHaveLength(3)
  })

  it('onEnded is called by the next process for what ended before a crash', async () => {
    const here = world()
    const never = hearing(() => new Promise(() => {}))
    const runtime = await here.open({ agents, onEnded: never.onEnded })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await runtime.wait(id)
    await here.quiet()
    expect(never.told).toHaveLength(1)
    await here.crash()
    const { told, onEnded } = hearing()
    const next = await here.open({ agents, onEnded })
    await here.clock.advance(1000 + claimedMs(kind))
    await here.quiet()
    // That it was called before is not known, because it was not answered.
    expect(told).toEqual(never.told)
    expect((await next.get(id))?.hook).toBeUndefined()
  })

  it('onEnded that answered is called again if that could not be stored before a crash', async () => {
    const here = world()
    const first = hearing()
    const runtime = await here.open({ agents, onEnded: first.onEnded })
    here.store.plan((units) => (units.some(isSettling) ? 'crash_before' : 'none'))
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await runtime.wait(id)
    await here.quiet()
    expect(first.told).toHaveLength(1)
    await here.crash()
    const second = hearing()
    await here.open({ agents, onEnded: second.onEnded })
    await here.clock.advance(1000 + claimedMs(kind))
    await here.quiet()
    expect(second.told).toEqual(first.told)
  })

  it('onEnded waits while the store is down for what it answered, and is not called again for it', async () => {
    const here = world()
    const answer = gate()
    const { told, onEnded } = hearing(() => answer.opened)
    const runtime = await here.open({ agents, onEnded })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await runtime.wait(id)
    await here.quiet()
    here.store.down()
    answer.open()
    await here.clock.advance(10_000)
    here.store.up()
    await here.clock.advance(10_000)
    await here.quiet()
    expect(told).toHaveLength(1)
    expect((await runtime.get(id))?.hook).toBeUndefined()
  })

  it('a runtime without onEnded writes nothing of it, and leaves alone what another owes', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await runtime.wait(id)
    expect(here.committed.some((unit) => unit.hooks !== undefined || unit.operation === 'hook')).toBe(false)
    expect((await runtime.get(id))?.hook).toBeUndefined()
    await runtime.close()
    const { told, onEnded } = hearing(() => Promise.reject(new Error('no')))
    const hooked = await here.open({ agents, onEnded })
    const owed = await hooked.run({ thread: 't', agent: 'echo', prompt: 'hi' })
    await hooked.wait(owed.id)
    await here.quiet()
    expect(told.map((each) => each.id)).toEqual([owed.id])
    await hooked.close({ drainMs: 0 })
    const last = await here.open({ agents })
    await here.clock.advance(60_000)
    await here.quiet()
    expect((await last.get(owed.id))?.hook).toMatchObject({ attempts: 1, error: 'no' })
  })
})
