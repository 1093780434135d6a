import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type AgentContext, createInbox, createRuntime, type RuntimeOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, onEachStore } from './world.ts'

const nonsense = <Value>(value: unknown): Value => value as Value

const agents = {
  done: () => 'done',
  held: (ctx: AgentContext) => untilStopped(ctx),
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('an inbox that throws is its owner’s trouble alone', async () => {
    const runtime = await world().open({ agents })
    const inbox = Object.assign(createInbox(), {
      send() {
        throw new Error('no room')
      },
    })
    const { id } = await runtime.spawn({ thread: 't', agent: 'done', inbox })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
    const next = await runtime.spawn({ thread: 't', agent: 'done' })
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
  })

  it('what is no inbox is refused', async () => {
    const runtime = await world().open({ agents })
    const refused = { code: 'invalid_request' }
    const spawning = runtime.spawn({ thread: 't', agent: 'done', inbox: nonsense(5) })
    await expect(spawning).rejects.toMatchObject(refused)
    await expect(runtime.setInbox(nonsense({}))).rejects.toMatchObject(refused)
    await expect(world().open({ inbox: nonsense('box') })).rejects.toMatchObject(refused)
  })

  it.each<[string, RuntimeOptions]>([
    ['no slot', { concurrency: 0 }],
    ['half a slot', { concurrency: 0.5 }],
    ['slots as text', { concurrency: nonsense('4') }],
    ['a lease of no time', { leaseMs: 0 }],
    ['a lease of NaN', { leaseMs: Number.NaN }],
    ['a grace time of NaN', { graceMs: Number.NaN }],
    ['a grace time below zero', { graceMs: -1 }],
    ['a limit of NaN', { limits: { eventBytes: Number.NaN } }],
    ['an agent that is none', { agents: { a: nonsense({}) } }],
    ['no agent under a name', { agents: { a: nonsense(null) } }],
  ])('a runtime with %s does not open', async (_what, options) => {
    await expect(world().open(options)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('a runtime that did not open leaves nothing behind', async () => {
    const before = process.listenerCount('unhandledRejection')
    const store = Object.assign(memoryStore(), { renew: () => Promise.reject(new Error('no lease')) })
    await expect(createRuntime({ store }).opened()).rejects.toThrow('no lease')
    expect(process.listenerCount('unhandledRejection')).toBe(before)
  })

  it('a second runtime on a store that one uses is refused', async () => {
    const here = world()
    const runtime = await here.open({ agents })
    const { id } = await runtime.spawn({ thread: 't', agent: 'held' })
    const second = createRuntime({ store: here.store, agents })
    await expect(second.opened()).rejects.toMatchObject({ code: 'store_locked' })
    await second.close()
    expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt: 1 })
    await runtime.close({ drainMs: 0 })
    const third = createRuntime({ store: here.store, agents, clock: here.clock })
    await third.opened()
    await third.close({ drainMs: 0 })
  })

  it('whoever waits for a task when the runtime closes is told', async () => {
    const runtime = await world().open({ agents })
    const { id } = await runtime.spawn({ thread: 't', agent: 'held' })
    const waiting = expect(runtime.wait(id)).rejects.toMatchObject({ code: 'store_unavailable' })
    await nextTurn()
    await runtime.close({ drainMs: 0 })
    await waiting
  })

  it('a runtime closes at once if its drain time is no number', async () => {
    const runtime = await world().open({ agents })
    await runtime.spawn({ thread: 't', agent: 'held' })
    await runtime.close({ drainMs: Number.NaN })
  })

  it('asking again and again keeps the event loop from nobody', async () => {
    const runtime = await world().open()
    const finish = gate()
    await runtime.spawn({ thread: 't', run: () => finish.opened })
    void nextTurn().then(() => finish.open())
    let asked = 0
    while (await runtime.hasRunning('t')) expect(++asked).toBeLessThan(10_000)
  })

  it('a long replay lets others go on between its pages', async () => {
    const runtime = await world().open()
    const run = async (ctx: AgentContext) => {
      for (let i = 0; i < 5000; i++) await ctx.emit('tick', i)
    }
    const { id } = await runtime.spawn({ thread: 't', run })
    await runtime.wait(id)
    let turns = 0
    let isReplaying = true
    const counting = (async () => {
      for (; isReplaying; turns++) await nextTurn()
    })()
    for await (const event of runtime.subscribe({ thread: 't', task: id })) expect(event.task).toBe(id)
    isReplaying = false
    await counting
    expect(turns).toBeGreaterThanOrEqual(5)
  })

  it('steering that nobody has read counts as the runs it may become', async () => {
    const runtime = await world().open({ agents, limits: { queuedRunsPerThread: 3 } })
    const prompt = { thread: 't', agent: 'held', prompt: 'go' }
    await runtime.run(prompt)
    for (let i = 0; i < 2; i++) await runtime.run({ ...prompt, onBusy: 'steer' })
    await runtime.run(prompt)
    const refused = { code: 'limit_reached' }
    await expect(runtime.run({ ...prompt, onBusy: 'steer' })).rejects.toMatchObject(refused)
    await expect(runtime.run(prompt)).rejects.toMatchObject(refused)
    const { interrupted } = await runtime.run({ ...prompt, onBusy: 'interrupt' })
    expect(interrupted).toHaveLength(4)
  })

  it.each([undefined, null, 5, {}, [], Symbol('id'), '', '\u0000', '\ud800'])('no task has the id %s', async (id) => {
    const runtime = await world().open({ agents })
    const given = nonsense<string>(id)
    expect(await runtime.get(given)).toBeUndefined()
    expect(await runtime.wait(given)).toBeUndefined()
    expect(await runtime.cancel(given)).toBe(false)
    expect(await runtime.cancelTree(given)).toBe(0)
    expect(await runtime.send(given, { content: 1 })).toEqual({ isSent: false, reason: 'not_found' })
    expect(await runtime.collect('t', [given])).toEqual([])
  })

  it(`what ${kind} could not store is refused before`, async () => {
    const runtime = await world().open({ agents })
    const { id } = await runtime.spawn({ thread: 't', agent: 'held' })
    const refused = { code: 'invalid_request' }
    const spawn = { thread: 't', agent: 'done' }
    const run = { ...spawn, prompt: 'go' }
    const bad = [
      runtime.send(id, { content: 1, from: nonsense(() => 1) }),
      runtime.cancel(id, nonsense(7)),
      runtime.cancelTree(id, { reason: nonsense({}) }),
      runtime.cancelThread('t', { scope: nonsense('most') }),
      runtime.spawn({ ...spawn, type: nonsense(['agent']) }),
      runtime.spawn({ ...spawn, description: nonsense(() => 1) }),
      runtime.spawn({ ...spawn, parent: { call: nonsense(() => 1) } }),
      runtime.spawn({ ...spawn, parent: { task: nonsense({}) } }),
      runtime.spawn({ thread: 't', run: nonsense('code') }),
      runtime.run({ ...run, onBusy: nonsense('wait') }),
      runtime.run({ ...run, onResult: nonsense('keep') }),
      runtime.run({ ...run, idempotencyKey: nonsense(5) }),
      runtime.messages('t', { after: Number.NaN }),
      runtime.list({ name: nonsense({}) }),
      runtime.list({ parent: nonsense({}) }),
      runtime.list({ cursor: nonsense({}) }),
    ]
    for (const [i, asked] of bad.entries()) await expect(asked, String(i)).rejects.toMatchObject(refused)
    expect(await runtime.get(id)).toMatchObject({ status: 'running' })
  })
})
