import { expect, it } from 'vitest'
import type { AgentContext, Result, Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { ask, ended, idOf, lead, thread, wakesOf, woken } from './wakes.ts'
import { eventsUntil, gate, onEachStore, type World } from './world.ts'

/** Spawns the tasks that its prompt names, detached, and stays. */
async function staying(ctx: AgentContext, asked: string | readonly Result[]): Promise<unknown> {
  await lead(ctx, asked)
  return typeof asked === 'string' ? ctx.sleep(1_000_000) : 'woken'
}

async function expectNoWake(here: World, runtime: Runtime, ...results: string[]): Promise<void> {
  await here.quiet()
  expect(await wakesOf(runtime)).toEqual([])
  expect((await runtime.results(thread)).results.map((result) => result.task)).toEqual(results)
}

/** A runtime whose thread has woken itself as often as it may, and the result that is left. */
async function wokenOut(here: World) {
  const looping = async (ctx: AgentContext, asked: string | readonly Result[]) => {
    if (asked !== 'stop') await ctx.spawn({ agent: 'quick', detached: true })
  }
  const runtime = await here.open({ agents: { lead: looping, quick: () => 'done' } })
  await ask(runtime, 'start')
  await woken(runtime, 8)
  await here.quiet()
  expect(await wakesOf(runtime)).toHaveLength(8)
  const { results } = await runtime.results(thread)
  expect(results).toHaveLength(1)
  return { runtime, results }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a cancelled run wakes nobody, whether its tasks ended before or after it', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead: staying, held } })
    const run = await ask(runtime, 'before after')
    await held.started('after')
    held.release('before', (ctx) => ctx.progress(0.5))
    const before = await idOf(runtime, 'before')
    const record = await runtime.wait(before)
    await runtime.cancel(run.id)
    await runtime.wait(run.id)
    const after = await ended(runtime, held, 'after')
    await expectNoWake(here, runtime, before, after)
    expect(await runtime.get(before)).toEqual(record)
  })

  it('an interrupted run wakes nobody, and the run that took its place is not woken for it', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead: staying, held } })
    await ask(runtime, 'a')
    await held.started('a')
    const next = await runtime.run({ thread, agent: 'held', prompt: 'next', onBusy: 'interrupt', onResult: 'wake' })
    held.release('next')
    await runtime.wait(next.id)
    const child = await ended(runtime, held, 'a')
    await expectNoWake(here, runtime, child)
  })

  it.for(['ends', 'is cancelled'] as const)('a task spawned from outside under a run that %s', async (how) => {
    const here = world()
    const held = heldAgent()
    const leading = (ctx: AgentContext, asked: string | readonly Result[]) =>
      typeof asked === 'string' ? held.run(ctx, asked) : 'woken'
    const runtime = await here.open({ agents: { lead: leading, held } })
    const run = await ask(runtime, 'run')
    await runtime.spawn({ thread, agent: 'held', prompt: 'a', parent: { task: run.id }, detached: true })
    await held.started('run')
    if (how === 'ends') held.release('run')
    else await runtime.cancel(run.id)
    await runtime.wait(run.id)
    const child = await ended(runtime, held, 'a')
    if (how === 'is cancelled') return expectNoWake(here, runtime, child)
    expect((await woken(runtime)).metadata).toEqual({ wakes: [child] })
  })

  it("the end of a task whose parent is live is that parent's to read, and wakes nobody before", async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { lead, held, middle } })
    const run = await runtime.run({ thread, agent: 'middle', prompt: 'root', onResult: 'wake' })
    await runtime.wait(run.id)
    await held.started('leaf')
    const leaf = await ended(runtime, held, 'leaf')
    await here.quiet()
    expect(await wakesOf(runtime)).toEqual([])
    await runtime.send(await idOf(runtime, 'branch'), { content: 'go on' })
    const wake = await woken(runtime)
    const branch = await idOf(runtime, 'branch')
    expect(wake.input).toMatchObject([
      { task: branch, answer: [{ kind: 'custom' }, { kind: 'completed', taskId: leaf }] },
    ])
  })

  it('a detached task of a detached task wakes the thread, also if the run had ended when it was spawned', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { lead, held } })
    const run = await ask(runtime, 'a')
    await runtime.wait(run.id)
    const a = await idOf(runtime, 'a')
    held.release('a', (ctx) => ctx.spawn({ agent: 'held', prompt: 'b', detached: true }).then((task) => task.id))
    await woken(runtime)
    await held.started('b')
    const b = await ended(runtime, held, 'b')
    await woken(runtime, 2)
    expect((await wakesOf(runtime)).map((wake) => wake.metadata)).toEqual([{ wakes: [a] }, { wakes: [b] }])
  })

  it('a thread is woken eight times in a row at most, and again after a prompt', async () => {
    const here = world()
    const { runtime, results } = await wokenOut(here)
    const stop = await ask(runtime, 'stop')
    await runtime.wait(stop.id)
    const ninth = await woken(runtime, 9)
    expect(ninth.metadata).toEqual({ wakes: [results[0]?.task] })
    await woken(runtime, 16)
    await here.quiet()
    expect(await wakesOf(runtime)).toHaveLength(16)
  })

  it('a cancel of all wakes nobody later, though all had ended', async () => {
    const here = world()
    const { runtime, results } = await wokenOut(here)
    expect(await runtime.cancelThread(thread, { scope: 'all' })).toEqual([])
    const stop = await ask(runtime, 'stop')
    await runtime.wait(stop.id)
    await here.quiet()
    expect(await wakesOf(runtime)).toHaveLength(8)
    expect((await runtime.results(thread)).results).toEqual(results)
  })

  it.for(['crash_before', 'crash_after'] as const)('a wake is decided once over a %s of the end', async (fault) => {
    const here = world()
    const held = heldAgent()
    const agents = { lead, held }
    const runtime = await here.open({ agents })
    const run = await ask(runtime, 'a')
    await runtime.wait(run.id)
    await held.started('a')
    const child = await idOf(runtime, 'a')
    here.store.plan((units) => (units.some((unit) => unit.operation === 'end') ? fault : 'none'))
    held.release('a')
    await here.store.crashed
    await here.crash()
    const next = await here.open({ agents })
    expect((await woken(next)).metadata).toEqual({ wakes: [child] })
    await here.quiet()
    expect(await wakesOf(next)).toHaveLength(1)
    expect((await next.results(thread)).results).toEqual([])
  })

  it('that a run wants to be woken, and that it was cancelled, survives a crash', async () => {
    const here = world()
    const held = heldAgent()
    const agents = { lead, staying, held }
    const runtime = await here.open({ agents })
    const run = await ask(runtime, 'a')
    await runtime.wait(run.id)
    const stopped = await ask(runtime, 'b', { agent: 'staying' })
    await held.started('b')
    await runtime.cancel(stopped.id)
    await runtime.wait(stopped.id)
    await here.crash()
    const next = await here.open({ agents })
    const b = await ended(next, held, 'b')
    await expectNoWake(here, next, b)
    const a = await ended(next, held, 'a')
    // The end of the cancelled run's task does not wake, and goes with the one that does.
    expect((await woken(next)).metadata).toEqual({ wakes: [b, a] })
  })

  it('a result that a client collects reaches the live parent all the same, once', async () => {
    const here = world()
    const held = heldAgent()
    const agents = { held, parent: collecting }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread, agent: 'parent', prompt: 'go', onResult: 'wake' })
    await Promise.all([held.started('a'), held.started('b')])
    const [a, b] = [await ended(runtime, held, 'a'), await ended(runtime, held, 'b')]
    expect(await runtime.collect(thread, [a, b])).toEqual([a, b])
    await here.crash()
    const next = await here.open({ agents })
    await eventsUntil(next, { thread }, (event) => event.type === 'task.resumed')
    await next.send(id, { content: 'go on' })
    const { result } = (await next.wait(id)) ?? {}
    expect(result).toMatchObject([
      { kind: 'custom', payload: { content: 'go on' } },
      { task: b, status: 'completed' },
      { kind: 'completed', taskId: a, result: 'did a' },
      null,
    ])
    await expectNoWake(here, next)
  })

  it('an end that was collected keeps its place in the inbox among the messages', async () => {
    const here = world()
    const held = heldAgent()
    const goOn = gate()
    const reading = async (ctx: AgentContext) => {
      await ctx.spawn({ agent: 'held', prompt: 'a' })
      await goOn.opened
      return [await ctx.receive(), await ctx.receive(), await ctx.receive()]
    }
    const runtime = await here.open({ agents: { held, reading } })
    const { id } = await runtime.spawn({ thread, agent: 'reading' })
    await held.started('a')
    await runtime.send(id, { content: 'before' })
    const a = await ended(runtime, held, 'a')
    await runtime.send(id, { content: 'after' })
    await runtime.collect(thread, [a])
    goOn.open()
    expect((await runtime.wait(id))?.result).toMatchObject([
      { payload: { content: 'before' } },
      { kind: 'completed', taskId: a },
      { payload: { content: 'after' } },
    ])
  })
})

/** A run that leaves a branch behind, which leaves a leaf behind and reads its inbox when it is told to. */
async function middle(ctx: AgentContext, asked: string | readonly Result[]): Promise<unknown> {
  if (asked === 'root') return ctx.spawn({ agent: 'middle', prompt: 'branch', detached: true })
  if (asked !== 'branch') return 'woken'
  await ctx.spawn({ agent: 'held', prompt: 'leaf', detached: true })
  return [await ctx.receive({ only: 'messages' }), await ctx.receive()]
}

/** Waits to be told, then for its second child by name, then for whatever is left, and for nothing more. */
async function collecting(ctx: AgentContext): Promise<unknown> {
  await ctx.spawn({ agent: 'held', prompt: 'a', detached: true })
  const second = await ctx.spawn({ agent: 'held', prompt: 'b' })
  const told = await ctx.receive({ only: 'messages' })
  return [told, await ctx.wait(second.id), await ctx.receive(), await ctx.receive({ timeoutMs: 0 })]
}
