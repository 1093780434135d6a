import { expect, it } from 'vitest'
import type { AgentContext, Logger } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const other = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00'
const thread = 't'

const agents = { traced: (ctx: AgentContext) => ctx.traceparent ?? 'none' }

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a run and a task know the trace that asked for them, and nobody else is told', async () => {
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread, agent: 'traced', prompt: 'go', traceparent })
    const task = await runtime.spawn({ thread, agent: 'traced', traceparent: other })
    const plain = await runtime.spawn({ thread, agent: 'traced' })
    const results = await Promise.all([run, task, plain].map(async ({ id }) => (await runtime.wait(id))?.result))
    expect(results).toEqual([traceparent, other, 'none'])
    expect([run, await runtime.get(run.id)].some((seen) => seen && 'traceparent' in seen)).toBe(false)
    const accepted = (await logOf(runtime, thread)).filter(({ type }) => type === 'task.accepted')
    expect(accepted).toHaveLength(3)
    for (const { data } of accepted) expect('traceparent' in (data as { task: object }).task).toBe(false)
  })

  it('children have the trace of their parent unless they are given one, also in another thread', async () => {
    const runtime = await world().open({ agents })
    const run = async (ctx: AgentContext) => {
      const near = await ctx.spawn({ agent: 'traced' })
      const far = await ctx.spawn({ agent: 'traced', thread: 'far' })
      const own = await ctx.spawn({ agent: 'traced', traceparent: other })
      const ends = await Promise.all([near, far, own].map(({ id }) => ctx.wait(id)))
      return ends.map(({ answer }) => answer)
    }
    const { id } = await runtime.spawn({ thread, run, traceparent })
    expect((await runtime.wait(id))?.result).toEqual([traceparent, traceparent, other])
  })

  it('a child that is spawned from outside has the trace of its parent unless it is given one', async () => {
    const runtime = await world().open({ agents })
    const parent = await runtime.spawn({ thread, run: untilStopped, traceparent })
    const child = { thread, agent: 'traced', parent: { task: parent.id } }
    const tasks = [await runtime.spawn(child), await runtime.spawn({ ...child, traceparent: other })]
    const results = await Promise.all(tasks.map(async ({ id }) => (await runtime.wait(id))?.result))
    expect(results).toEqual([traceparent, other])
  })

  it('the trace outlives a crash, and what is spawned again after it is the same child', async () => {
    const here = world()
    const spawned = gate()
    let attempts = 0
    const parent = async (ctx: AgentContext) => {
      attempts += 1
      // Another span each time, as an instrumented agent has it.
      const span = `00-0af7651916cd43dd8448eb211c80319c-000000000000000${attempts}-01`
      const child = await ctx.spawn({ agent: 'traced', traceparent: span })
      spawned.open()
      if (attempts === 1) await untilStopped(ctx)
      return [ctx.traceparent, (await ctx.wait(child.id)).answer, child.id]
    }
    const runtime = await here.open({ agents: { ...agents, parent } })
    const { id } = await runtime.run({ thread, agent: 'parent', prompt: 'go', traceparent })
    await spawned.opened
    await here.crash()
    const next = await here.open({ agents: { ...agents, parent } })
    const first = '00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01'
    expect((await next.wait(id))?.result).toEqual([traceparent, first, 'bg_1'])
    expect((await next.list()).tasks).toHaveLength(2)
  })

  it('a steering prompt that becomes a run keeps its trace', async () => {
    const runtime = await world().open({ agents: { ...agents, slow: untilStopped } })
    const { id } = await runtime.run({ thread, agent: 'slow', prompt: 'go', traceparent })
    await runtime.run({ thread, agent: 'traced', prompt: 'left', onBusy: 'steer', traceparent: other })
    await runtime.cancel(id)
    await runtime.wait(id)
    const [next] = (await runtime.list({ thread, type: 'run' })).tasks
    expect(next?.id).not.toBe(id)
    expect(await runtime.wait(next?.id ?? '')).toMatchObject({ result: other })
  })

  it('the trace is in what the task logs', async () => {
    const facts: object[] = []
    const note = (fact: object) => void facts.push(fact)
    const log: Logger = { debug: note, info: note, warn: note, error: note }
    const run = (ctx: AgentContext) => ctx.log.info({ found: 1 }, 'hello')
    const runtime = await world().open({ log })
    for (const options of [{ traceparent }, {}])
      await runtime.wait((await runtime.spawn({ thread, run, ...options })).id)
    expect(facts.filter((fact) => 'found' in fact)).toEqual([
      { task: 'bg_0', thread, traceparent, found: 1 },
      { task: 'bg_1', thread, found: 1 },
    ])
  })

  it('the same request of another trace is the same request', async () => {
    const runtime = await world().open({ agents })
    const run = { thread, agent: 'traced', prompt: 'go', idempotencyKey: 'r' }
    const task = { thread, agent: 'traced', idempotencyKey: 't' }
    const first = await runtime.run({ ...run, traceparent })
    const second = await runtime.spawn({ ...task, traceparent })
    expect(await runtime.run({ ...run, traceparent: other })).toMatchObject({ id: first.id, isReplayed: true })
    expect(await runtime.run(run)).toMatchObject({ id: first.id, isReplayed: true })
    expect(await runtime.spawn({ ...task, traceparent: other })).toMatchObject({ id: second.id, isReplayed: true })
  })

  it.each(['', 'x', `${traceparent}-00`, traceparent.toUpperCase(), 5 as unknown as string])(
    'the trace %j is refused',
    async (bad) => {
      const runtime = await world().open({ agents })
      const invalid = { code: 'invalid_request', message: expect.stringContaining('traceparent') as string }
      await expect(runtime.run({ thread, agent: 'traced', prompt: 'go', traceparent: bad })).rejects.toMatchObject(
        invalid,
      )
      await expect(runtime.spawn({ thread, agent: 'traced', traceparent: bad })).rejects.toMatchObject(invalid)
    },
  )
})
