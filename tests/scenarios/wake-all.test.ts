import { expect, it } from 'vitest'
import type { AgentContext, Result, Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { ask, ended, idOf, lead, thread, wakesOf, woken } from './wakes.ts'
import { gate, onEachStore } from './world.ts'

/** What the wakes took, each in its order. */
async function taken(runtime: Runtime): Promise<unknown[]> {
  return (await wakesOf(runtime)).map(({ metadata }) => (metadata as { wakes: unknown }).wakes)
}

async function untaken(runtime: Runtime): Promise<string[]> {
  return (await runtime.results(thread)).results.map(({ task }) => task)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a wake takes what nobody took before, whoever asked for it, in the order of the ends', async () => {
    const held = heldAgent()
    const leaving = async (ctx: AgentContext) => {
      const child = await ctx.spawn({ agent: 'held', prompt: 'attached' })
      await ended(runtime, held, 'attached')
      return child.id
    }
    const runtime = await world().open({ agents: { lead, held, leaving } })
    await runtime.spawn({ thread, agent: 'held', prompt: 'beside' })
    const beside = await ended(runtime, held, 'beside')
    await runtime.wait((await ask(runtime, 'collected', { onResult: 'collect' })).id)
    const collected = await ended(runtime, held, 'collected')
    const run = await runtime.run({ thread, agent: 'leaving', prompt: 'go' })
    const attached = (await runtime.wait(run.id))?.result
    await runtime.wait((await ask(runtime, 'armed')).id)
    const armed = await ended(runtime, held, 'armed')
    const wake = await woken(runtime)
    const tasks = [beside, collected, attached, armed]
    expect(wake.metadata).toEqual({ wakes: tasks })
    expect((wake.input as Result[]).map(({ task, answer }) => [task, answer])).toEqual([
      [beside, 'did beside'],
      [collected, 'did collected'],
      [attached, 'did attached'],
      [armed, 'did armed'],
    ])
    expect(await untaken(runtime)).toEqual([])
    expect(await runtime.collect(thread, tasks as string[])).toEqual([])
  })

  it('what was not asked to wake the thread wakes nobody, and goes with what ends while a run is live', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    await runtime.wait((await ask(runtime, 'armed')).id)
    await runtime.spawn({ thread, agent: 'held', prompt: 'first' })
    await runtime.spawn({ thread, agent: 'held', prompt: 'last' })
    const active = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const first = await ended(runtime, held, 'first')
    const armed = await ended(runtime, held, 'armed')
    const last = await ended(runtime, held, 'last')
    held.release('active')
    await runtime.wait(active.id)
    await woken(runtime)
    await runtime.spawn({ thread, agent: 'held', prompt: 'after' })
    const after = await ended(runtime, held, 'after')
    await here.quiet()
    expect(await taken(runtime)).toEqual([[first, armed, last]])
    expect(await untaken(runtime)).toEqual([after])
  })

  it.for(['wait', 'receive'] as const)('an end that a live parent may read with ctx.%s is left to it', async (how) => {
    const held = heldAgent()
    const goOn = gate()
    const parent = async (ctx: AgentContext) => {
      const child = await ctx.spawn({ agent: 'held', prompt: 'child' })
      await goOn.opened
      return how === 'wait' ? ctx.wait(child.id) : ctx.receive()
    }
    const runtime = await world().open({ agents: { lead, held, parent } })
    const { id } = await runtime.spawn({ thread, agent: 'parent' })
    await held.started('child')
    const child = await ended(runtime, held, 'child')
    await runtime.wait((await ask(runtime, 'armed')).id)
    const armed = await ended(runtime, held, 'armed')
    await woken(runtime)
    expect(await untaken(runtime)).toEqual([child])
    goOn.open()
    expect((await runtime.wait(id))?.result).toMatchObject({ [how === 'wait' ? 'task' : 'taskId']: child })
    expect(await taken(runtime)).toEqual([[armed]])
    expect(await untaken(runtime)).toEqual([id])
  })

  it('a child that a parent left unread goes with the next wake once the parent has ended', async () => {
    const held = heldAgent()
    const goOn = gate()
    const parent = async (ctx: AgentContext) => {
      await ctx.spawn({ agent: 'held', prompt: 'child' })
      await goOn.opened
    }
    const runtime = await world().open({ agents: { lead, held, parent } })
    const { id } = await runtime.spawn({ thread, agent: 'parent' })
    await held.started('child')
    const child = await ended(runtime, held, 'child')
    await runtime.wait((await ask(runtime, 'a b')).id)
    const a = await ended(runtime, held, 'a')
    await woken(runtime)
    goOn.open()
    await runtime.wait(id)
    const b = await ended(runtime, held, 'b')
    await woken(runtime, 2)
    expect(await taken(runtime)).toEqual([[a], [child, id, b]])
  })

  it('of two agents that are woken the first takes what neither asked for', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, other: lead, held } })
    await runtime.wait((await ask(runtime, 'a')).id)
    await runtime.wait((await ask(runtime, 'b', { agent: 'other' })).id)
    await runtime.spawn({ thread, agent: 'held', prompt: 'c' })
    const active = await runtime.run({ thread, agent: 'held', prompt: 'active' })
    const [b, a, c] = [
      await ended(runtime, held, 'b'),
      await ended(runtime, held, 'a'),
      await ended(runtime, held, 'c'),
    ]
    held.release('active')
    await runtime.wait(active.id)
    await woken(runtime, 2)
    expect((await wakesOf(runtime)).map(({ agent, metadata }) => [agent, metadata])).toEqual([
      ['other', { wakes: [b, c] }],
      ['lead', { wakes: [a] }],
    ])
  })

  it('what is more than a message holds is left to the next wake', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, held } })
    const large: string[] = []
    for (const prompt of ['large 1', 'large 2', 'large 3']) {
      const { id } = await runtime.spawn({ thread, agent: 'held', prompt })
      held.release(prompt, () => 'x'.repeat(600 * 1024))
      await runtime.wait(id)
      large.push(id)
    }
    await runtime.wait((await ask(runtime, 'a b')).id)
    const a = await ended(runtime, held, 'a')
    await woken(runtime)
    const b = await ended(runtime, held, 'b')
    await woken(runtime, 2)
    expect(await taken(runtime)).toEqual([
      [large[0], large[1], a],
      [large[2], b],
    ])
    expect(await untaken(runtime)).toEqual([])
  })

  it('ends that come all at once are each taken once', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held } })
    const prompts = Array.from({ length: 12 }, (_, n) => `${n}`)
    for (const prompt of prompts) await runtime.spawn({ thread, agent: 'held', prompt })
    await runtime.wait((await ask(runtime, 'a b c')).id)
    const all = [...prompts, 'a', 'b', 'c']
    const ids = await Promise.all(all.map((prompt) => idOf(runtime, prompt)))
    for (const prompt of all) held.release(prompt)
    await Promise.all(ids.map((id) => runtime.wait(id)))
    await here.quiet()
    const seen = [...(await taken(runtime)).flat(), ...(await untaken(runtime))]
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect(await taken(runtime)).not.toEqual([])
  })

  it('a wake takes what was left before a crash', async () => {
    const here = world()
    const held = heldAgent()
    const agents = { lead, held }
    const runtime = await here.open({ agents })
    await runtime.spawn({ thread, agent: 'held', prompt: 'beside' })
    const beside = await ended(runtime, held, 'beside')
    await runtime.wait((await ask(runtime, 'armed')).id)
    await here.crash()
    const next = await here.open({ agents })
    const armed = await idOf(next, 'armed')
    await next.cancel(armed)
    expect((await woken(next)).input).toMatchObject([
      { task: beside, status: 'completed' },
      { task: armed, status: 'cancelled' },
    ])
  })
})
