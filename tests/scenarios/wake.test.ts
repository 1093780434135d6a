import { expect, it } from 'vitest'
import { type AgentContext, failed, type Result } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { ask, ended, idOf, lead, thread, wakesOf, woken } from './wakes.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('the end of a detached task wakes the thread of a run that has ended', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, held } })
    const run = await ask(runtime, 'a')
    await runtime.wait(run.id)
    const child = await ended(runtime, held, 'a')
    const wake = await woken(runtime)
    const results = [{ task: child, status: 'completed', answer: 'did a' }]
    expect(wake).toMatchObject({ type: 'run', agent: 'lead', status: 'completed', metadata: { wakes: [child] } })
    expect(wake).toMatchObject({ input: results, result: results })
    expect(wake).not.toHaveProperty('parent')
    const said = (await runtime.messages(thread)).filter((message) => message.task === wake.id)
    expect(said.map((message) => message.role)).toEqual(['system', 'assistant'])
    expect(said[0]?.parts).toEqual([{ type: 'data', name: 'results', value: results }])
    expect(await runtime.results(thread)).toEqual({ results: [], running: 0 })
  })

  it('results that come while a run is live wake it once, after that run and after the queue', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, held } })
    const run = await ask(runtime, 'a b c')
    await runtime.wait(run.id)
    await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const queued = await runtime.run({ thread, agent: 'held', prompt: 'queued' })
    const children = [await ended(runtime, held, 'b'), await ended(runtime, held, 'a')]
    expect(await wakesOf(runtime)).toEqual([])
    held.release('active')
    await held.started('queued')
    expect(await wakesOf(runtime)).toEqual([])
    held.release('queued')
    const wake = await woken(runtime)
    expect(wake.metadata).toEqual({ wakes: children })
    expect(wake.seq).toBeGreaterThan((await runtime.get(queued.id))?.seq ?? 0)
    const last = await ended(runtime, held, 'c')
    expect((await woken(runtime, 2)).metadata).toEqual({ wakes: [last] })
  })

  it('a failed or cancelled task wakes with its error, and a run that failed is woken as well', async () => {
    const held = heldAgent()
    const failing = async (ctx: AgentContext, asked: string | readonly Result[]) => {
      await lead(ctx, asked)
      return typeof asked === 'string' ? failed('no') : 'woken'
    }
    const runtime = await world().open({ agents: { lead: failing, held } })
    const run = await ask(runtime, 'a b')
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed' })
    held.release('a', () => failed('broken'))
    await woken(runtime)
    await runtime.cancel(await idOf(runtime, 'b'))
    await woken(runtime, 2)
    expect((await wakesOf(runtime)).map((wake) => wake.input)).toMatchObject([
      [{ status: 'failed', error: { code: 'agent_error', message: 'broken' } }],
      [{ status: 'cancelled', error: { code: 'cancelled' } }],
    ])
  })

  it('a result waits to be collected unless the run asks to be woken', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'a' })
    await runtime.wait(run.id)
    const child = await ended(runtime, held, 'a')
    await here.quiet()
    expect(await wakesOf(runtime)).toEqual([])
    expect((await runtime.results(thread)).results.map((result) => result.task)).toEqual([child])
  })

  it.for(['wait', 'receive'] as const)('what a run has read with ctx.%s wakes nobody', async (how) => {
    const here = world()
    const held = heldAgent()
    const reading = async (ctx: AgentContext) => {
      const child = await ctx.spawn({ agent: 'held', prompt: 'a', detached: true })
      await ctx.spawn({ agent: 'held', prompt: 'b', detached: true })
      if (how === 'wait') return ctx.wait(child.id)
      return ctx.receive()
    }
    const runtime = await here.open({ agents: { lead: reading, held } })
    const run = await ask(runtime, 'go')
    await held.started('b')
    const child = await ended(runtime, held, 'a')
    expect((await runtime.wait(run.id))?.result).toMatchObject({ [how === 'wait' ? 'task' : 'taskId']: child })
    await here.quiet()
    expect(await wakesOf(runtime)).toEqual([])
    const other = await ended(runtime, held, 'b')
    await eventsUntil(runtime, { thread }, (event) => event.type === 'message.created' && event.task !== run.id)
    // The woken run spawns the same again, and may have been woken for it by now.
    expect((await wakesOf(runtime))[0]?.metadata).toEqual({ wakes: [other] })
  })

  it('what was collected wakes nobody', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    const run = await ask(runtime, 'a')
    await runtime.wait(run.id)
    const active = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const child = await ended(runtime, held, 'a')
    expect(await runtime.collect(thread, [child])).toEqual([child])
    held.release('active')
    await runtime.wait(active.id)
    await here.quiet()
    expect(await wakesOf(runtime)).toEqual([])
  })

  it('a cancel of all wakes nobody, neither by what it cancels nor by what had ended', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    await runtime.wait((await ask(runtime, 'a b')).id)
    const active = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const child = await ended(runtime, held, 'a')
    const other = await idOf(runtime, 'b')
    expect(await runtime.cancelThread(thread, { scope: 'all' })).toEqual([active.id, other])
    for (const id of [active.id, other]) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    await here.quiet()
    expect(await wakesOf(runtime)).toEqual([])
    expect((await runtime.results(thread)).results.map((result) => result.task)).toEqual([child, other])
  })

  it('runs of two agents are woken each with its own results, one after the other', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, other: lead, held } })
    for (const [agent, prompt] of [
      ['lead', 'a'],
      ['other', 'b'],
      ['lead', 'c'],
    ] as const) {
      await runtime.wait((await ask(runtime, prompt, { agent })).id)
    }
    const active = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const [a, b, c] = [
      await ended(runtime, held, 'a'),
      await ended(runtime, held, 'b'),
      await ended(runtime, held, 'c'),
    ]
    held.release('active')
    await runtime.wait(active.id)
    await woken(runtime, 2)
    expect((await wakesOf(runtime)).map((wake) => [wake.agent, wake.metadata])).toEqual([
      ['lead', { wakes: [a, c] }],
      ['other', { wakes: [b] }],
    ])
    const runs = (await logOf(runtime, thread)).filter((event) => event.type === 'task.started')
    expect(runs).toHaveLength(9)
  })
})
