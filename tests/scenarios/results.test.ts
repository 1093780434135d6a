import { expect, it } from 'vitest'
import { type AgentContext, cancelled, failed, type Runtime } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { passTime } from './pass-time.ts'
import { eventsUntil, onEachStore } from './world.ts'

const thread = 't'

async function spawn(runtime: Runtime, ...prompts: string[]): Promise<string[]> {
  const tasks = await Promise.all(prompts.map((prompt) => runtime.spawn({ thread, agent: 'held', prompt })))
  return tasks.map((task) => task.id)
}

async function resultIds(runtime: Runtime): Promise<string[]> {
  return (await runtime.results(thread)).results.map((result) => result.task)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('TRCK-01 polling for results never drops a running task', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [a = '', b = ''] = await spawn(runtime, 'a', 'b')
    for (let poll = 0; poll < 3; poll += 1) {
      expect(await runtime.results(thread)).toEqual({ results: [], running: 2 })
      expect(await runtime.collect(thread, [a, b])).toEqual([])
    }
    expect((await runtime.list({ thread, status: 'running' })).tasks).toHaveLength(2)
    held.release('a')
    await runtime.wait(a)
    expect(await runtime.results(thread)).toMatchObject({ results: [{ task: a }], running: 1 })
  })

  it('TRCK-01 a task that ends during a poll is in it, as running or as a result', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const [a = ''] = await spawn(runtime, 'a')
    await held.started('a')
    const { tasks, livePart } = here.store
    const endBetween = <Ask extends readonly unknown[], Answer>(read: (...ask: Ask) => Promise<Answer>) => {
      return async (...ask: Ask) => {
        const answer = await read(...ask)
        here.store.tasks = tasks
        here.store.livePart = livePart
        held.release('a')
        await runtime.wait(a)
        return answer
      }
    }
    // The poll makes two reads; whichever comes first, the task ends before the other.
    here.store.tasks = endBetween(tasks)
    here.store.livePart = endBetween(livePart)
    const { results, running } = await runtime.results(thread)
    expect(results.length + running).toBeGreaterThan(0)
  })

  it('TRCK-02 finished results are handed out, collected ones are gone, and running ones stay', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [a = '', b = '', c = ''] = await spawn(runtime, 'a', 'b', 'c')
    held.release('b', () => ({ found: [1, 2] }))
    await runtime.wait(b)
    held.release('a')
    await runtime.wait(a)
    const results = [
      { task: b, status: 'completed', answer: { found: [1, 2] } },
      { task: a, status: 'completed', answer: 'did a' },
    ]
    expect(await runtime.results(thread)).toEqual({ results, running: 1 })
    expect(await runtime.collect(thread, [b])).toEqual([b])
    expect(await runtime.results(thread)).toEqual({ results: results.slice(1), running: 1 })
    expect(await runtime.collect(thread, [a, b, c])).toEqual([a])
    expect(await runtime.results(thread)).toEqual({ results: [], running: 1 })
    expect(await runtime.get(b)).toMatchObject({ status: 'completed', result: { found: [1, 2] } })
  })

  it('TRCK-03 poll, finish, poll: the second poll has the answer', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [a = ''] = await spawn(runtime, 'a')
    expect(await resultIds(runtime)).toEqual([])
    held.release('a')
    await runtime.wait(a)
    const [result] = (await runtime.results(thread)).results
    expect(result).toEqual({ task: a, status: 'completed', answer: 'did a' })
  })

  it('TRCK-04 when all have been collected nothing is kept for the thread', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const tasks = await spawn(runtime, 'a', 'b')
    for (const prompt of ['a', 'b']) held.release(prompt)
    for (const task of tasks) await runtime.wait(task)
    const { head } = await runtime.thread(thread)
    expect((await runtime.collect(thread, tasks)).toSorted()).toEqual(tasks.toSorted())
    expect(await runtime.results(thread)).toEqual({ results: [], running: 0 })
    expect((await runtime.thread(thread)).head).toBe(head)
    await here.crash()
    const next = await here.open({ agents: { held } })
    expect(await next.results(thread)).toEqual({ results: [], running: 0 })
    expect(await next.collect(thread, tasks)).toEqual([])
  })

  it('TRCK-05 every way a task can end marks it done with its answer or its error', async () => {
    const here = world()
    const agents = {
      ...endings,
      resumable: () => new Promise(() => {}),
      once: { run: endings.hanging, isResumable: false },
    }
    const runtime = await here.open({ agents })
    const ids: Record<string, string> = {}
    for (const agent of Object.keys(agents)) {
      const options = agent === 'timed' ? { timeoutMs: 1_000 } : {}
      ids[agent] = (await runtime.spawn({ thread, agent, prompt: 'go', ...options })).id
    }
    const closure = await runtime.spawn({ thread, run: () => new Promise(() => {}) })
    await runtime.cancel(ids['hanging'] ?? '')
    const timed = ids['timed'] ?? ''
    await eventsUntil(runtime, { thread, task: timed }, (event) => event.type === 'task.started')
    await passTime(here.clock, runtime.wait(timed))
    await here.crash()
    const next = await here.open({ agents: { ...agents, resumable: () => 'after all' } })
    for (const id of [...Object.values(ids), closure.id]) await next.wait(id)
    const { results, running } = await next.results(thread)
    expect(running).toBe(0)
    const ended = Object.fromEntries(results.map((result) => [result.task, result.answer ?? result.error?.code]))
    expect(Object.entries(ids).map(([agent, id]) => [agent, ended[id]])).toEqual([
      ['returning', { a: 1 }],
      ['answering', 'the answer'],
      ['nothing', undefined],
      ['throwing', 'agent_error'],
      ['failing', 'agent_error'],
      ['leaving', 'cancelled'],
      ['cyclic', 'not_serialisable'],
      ['hanging', 'cancelled'],
      ['timed', 'timeout'],
      ['resumable', 'after all'],
      ['once', 'orphaned'],
    ])
    expect(ended[closure.id]).toBe('orphaned')
    expect(results).toHaveLength(12)
  })

  it('TRCK-06 a result that was handed out and not collected is handed out again', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const [a = ''] = await spawn(runtime, 'a')
    held.release('a')
    await runtime.wait(a)
    const first = await runtime.results(thread)
    expect(await runtime.results(thread)).toEqual(first)
    here.store.plan((units) => (units.some((unit) => unit.operation === 'collect') ? 'crash_before' : 'none'))
    void runtime.collect(thread, [a])
    await here.store.crashed
    await here.crash()
    const next = await here.open({ agents: { held } })
    expect(await next.results(thread)).toEqual(first)
    expect(await next.collect(thread, [a])).toEqual([a])
    expect(await resultIds(next)).toEqual([])
  })

  it('two who collect one thread both see a result until one takes it, and one alone takes it', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const tasks = await spawn(runtime, 'a', 'b', 'c')
    for (const prompt of ['a', 'b', 'c']) held.release(prompt)
    for (const task of tasks) await runtime.wait(task)
    expect(await resultIds(runtime)).toHaveLength(3)
    expect(await resultIds(runtime)).toHaveLength(3)
    const [mine, theirs] = await Promise.all([runtime.collect(thread, tasks), runtime.collect(thread, tasks)])
    expect([...mine, ...theirs].toSorted()).toEqual(tasks.toSorted())
    expect([mine.length, theirs.length].toSorted()).toEqual([0, 3])
  })

  it('collect leaves out what is unknown, live, taken, named twice, foreign or a run', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [ended = '', live = ''] = await spawn(runtime, 'ended', 'live')
    const elsewhere = await runtime.spawn({ thread: 'other', agent: 'held', prompt: 'elsewhere' })
    const foreign = await runtime.as('bob').spawn({ thread, agent: 'held', prompt: 'foreign' })
    const run = await runtime.run({ thread, agent: 'held', prompt: 'run' })
    for (const prompt of ['ended', 'elsewhere', 'foreign', 'run']) held.release(prompt)
    for (const id of [ended, elsewhere.id, run.id]) await runtime.wait(id)
    await runtime.as('bob').wait(foreign.id)
    const all = [ended, ended, live, 'bg_999', '', elsewhere.id, foreign.id, run.id]
    expect(await runtime.collect(thread, all)).toEqual([ended])
    expect(await runtime.collect(thread, all)).toEqual([])
    expect(await runtime.collect(thread, [])).toEqual([])
    expect((await runtime.as('bob').results(thread)).results).toHaveLength(1)
    expect((await runtime.results('other')).results).toHaveLength(1)
  })

  it('an end that comes while nobody listens is there for the next to ask', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [a = ''] = await spawn(runtime, 'a')
    held.release('a', (ctx) => ctx.answer('late but here'))
    await runtime.wait(a)
    expect(await runtime.wait(a)).toMatchObject({ status: 'completed', result: 'late but here' })
    const events = await eventsUntil(runtime, { thread, task: a }, () => false)
    expect(events.at(-1)?.data).toEqual({ result: 'late but here' })
  })

  it('results are more than one page, oldest end first', async () => {
    const runtime = await world().open({ agents: { quick: () => 'done' } })
    const spawned = Array.from({ length: 1_050 }, (_each, n) => runtime.spawn({ thread, agent: 'quick', input: n }))
    const tasks = await Promise.all(spawned)
    for (const task of tasks) await runtime.wait(task.id)
    const ids = await resultIds(runtime)
    expect(new Set(ids).size).toBe(1_050)
    const ends = await Promise.all(ids.map(async (id) => (await runtime.get(id))?.seq ?? 0))
    expect(ends).toEqual(ends.toSorted((x, y) => x - y))
    expect(await runtime.collect(thread, ids)).toHaveLength(1_050)
  })
})

function cycle(): unknown {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

const endings = {
  returning: () => ({ a: 1 }),
  answering: (ctx: AgentContext) => ctx.answer('the answer'),
  nothing: () => undefined,
  throwing: () => Promise.reject(new Error('no')),
  failing: () => failed('no'),
  leaving: () => cancelled(),
  cyclic: () => cycle(),
  hanging: (ctx: AgentContext) => ctx.sleep(1_000_000),
  timed: (ctx: AgentContext) => ctx.sleep(1_000_000),
}
