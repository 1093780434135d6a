import { expect, it } from 'vitest'
import { defaultLimits } from '../../src/core/limits.ts'
import { type AgentContext, createRuntime, echoAgent, scriptAgent } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('a runtime says which node it is, on what store, and what its limits are', async () => {
    const runtime = await world().open({ limits: { treeDepth: 3 } })
    const info = await runtime.info()
    expect(info).toEqual({
      node: expect.stringMatching(/^node_/) as string,
      store: { kind, isDurable: kind !== 'memory' },
      limits: { ...defaultLimits, treeDepth: 3 },
    })
    const { id } = await runtime.spawn({ thread: 't', run: () => 1 })
    await runtime.wait(id)
    const started = (await logOf(runtime, 't')).find(({ type }) => type === 'task.started')
    expect(started?.data).toMatchObject({ node: info.node })
  })

  it('readiness tells a store that is down from a runtime that closes', async () => {
    const here = world()
    const runtime = await here.open()
    const stopped = gate()
    const lingering = async (ctx: AgentContext) => {
      await untilStopped(ctx).catch(() => {})
      await stopped.opened
    }
    const task = await runtime.spawn({ thread: 't', run: lingering })
    expect(await runtime.readiness()).toEqual({ isReady: true, isDraining: false, isStoreUp: true })
    here.store.down()
    await expect(runtime.spawn({ thread: 't', run: () => 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await runtime.readiness()).toEqual({ isReady: false, isDraining: false, isStoreUp: false })
    here.store.up()
    await here.clock.advance(2_000)
    await here.quiet()
    expect(await runtime.readiness()).toEqual({ isReady: true, isDraining: false, isStoreUp: true })
    await runtime.cancel(task.id)
    const closing = runtime.close({ drainMs: 1_000 })
    await here.quiet()
    expect(await runtime.readiness()).toEqual({ isReady: false, isDraining: true, isStoreUp: true })
    stopped.open()
    await closing
  })

  it('agents are listed with how much of them executes at once, where that is limited', async () => {
    const agents = { few: { run: () => 1, concurrency: 2 }, free: () => 1, many: { run: () => 1, concurrency: 1e6 } }
    const unlimited = await world().open({ agents })
    expect(await unlimited.agents()).toEqual([{ name: 'few', concurrency: 2 }, { name: 'free' }, { name: 'many' }])
    const limited = await world().open({ agents, limits: { executingTasksPerAgent: 5 } })
    expect((await limited.agents()).slice(0, 2)).toEqual([
      { name: 'few', concurrency: 2 },
      { name: 'free', concurrency: 5 },
    ])
  })

  it('agents are listed with what they say of themselves', async () => {
    const inputSchema = { type: 'object', required: ['topic'] }
    const lead = { run: () => 1, version: '2', description: 'Leads', inputSchema }
    const runtime = await world().open({ agents: { lead, plain: () => 1, echo: echoAgent(), script: scriptAgent() } })
    const agents = await runtime.agents()
    expect(agents.slice(0, 2)).toEqual([
      { name: 'lead', version: '2', description: 'Leads', inputSchema },
      { name: 'plain' },
    ])
    expect(agents.slice(2)).toMatchObject([
      { name: 'echo', inputSchema: {} },
      { name: 'script', inputSchema: { type: 'object', required: ['script'] } },
    ])
    expect(JSON.parse(JSON.stringify(agents))).toEqual(agents)
  })
})

it('a runtime that cannot open says so, whatever it is asked', async () => {
  const runtime = createRuntime()
  for (const asked of [runtime.info(), runtime.readiness(), runtime.agents(), runtime.metricsText()]) {
    await expect(asked).rejects.toMatchObject({ code: 'no_store' })
  }
})
