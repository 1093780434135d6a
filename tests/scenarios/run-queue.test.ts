import { expect, it } from 'vitest'
import { cancelled, failed, type Runtime, type Task } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { passTime } from './pass-time.ts'
import { eventsUntil, logOf, onEachStore, type World } from './world.ts'

const thread = 't'

function prompts(runtime: Runtime, ...texts: string[]): Promise<Task[]> {
  return Promise.all(texts.map((prompt) => runtime.run({ thread, agent: 'held', prompt })))
}

/** The prompts of a thread's runs in the order in which the log says they started. */
async function startedPrompts(runtime: Runtime): Promise<unknown[]> {
  const started = (await logOf(runtime, thread)).filter((event) => event.type === 'task.started')
  return Promise.all(started.map(async (event) => (await runtime.get(event.task ?? ''))?.input))
}

async function positions(runtime: Runtime): Promise<[unknown, number | undefined][]> {
  const { tasks } = await runtime.list({ thread, status: ['pending', 'running'] })
  return tasks.toReversed().map((task) => [task.input, task.position])
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('the runs of a thread run one at a time, first accepted first', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [first, second, third] = await prompts(runtime, 'a', 'b', 'c')
    expect([first, second, third].map((run) => run?.status)).toEqual(['running', 'pending', 'pending'])
    expect(second).toMatchObject({ attempt: 0, epoch: 0 })
    held.release('c')
    held.release('b')
    await held.started('a')
    expect(held.begun).toEqual(['a'])
    held.release('a')
    await runtime.wait(third?.id ?? '')
    expect(held.begun).toEqual(['a', 'b', 'c'])
    const log = await logOf(runtime, thread)
    const kept = ['task.started', 'task.completed']
    expect(log.filter((event) => kept.includes(event.type)).map((event) => [event.task, event.type])).toEqual(
      [first, second, third].flatMap((run) => kept.map((type) => [run?.id, type])),
    )
  })

  it('other threads and background tasks do not wait for the queue', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    await prompts(runtime, 'a', 'b')
    await runtime.run({ thread: 'other', agent: 'held', prompt: 'elsewhere' })
    await runtime.spawn({ thread, agent: 'held', prompt: 'beside' })
    await Promise.all([held.started('elsewhere'), held.started('beside')])
    expect(held.begun).toEqual(['a', 'elsewhere', 'beside'])
  })

  it.for<[string, (here: World, runtime: Runtime, id: string) => unknown]>([
    ['completed', () => {}],
    ['failed', () => {}],
    ['cancelled by itself', () => {}],
    ['cancelled', (_here, runtime, id) => runtime.cancel(id)],
    ['timeout', (here) => here.clock.advance(30_000)],
  ])('a run that ends as %s starts the next', async ([how, act]) => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const run = await runtime.run({ thread, agent: 'held', prompt: how, timeoutMs: 30_000 })
    const [next] = await prompts(runtime, 'next')
    await held.started(how)
    if (how === 'completed') held.release(how)
    if (how === 'failed') held.release(how, () => failed('no'))
    if (how === 'cancelled by itself') held.release(how, () => cancelled())
    await act(here, runtime, run.id)
    await held.started('next')
    held.release('next')
    expect(await runtime.wait(next?.id ?? '')).toMatchObject({ status: 'completed', result: 'did next' })
    const status = how.startsWith('cancelled') ? 'cancelled' : how === 'completed' ? how : 'failed'
    expect((await runtime.get(run.id))?.status).toBe(status)
  })

  it('a run that ignores its cancel is ended by force, and the next starts', async () => {
    const here = world()
    const held = heldAgent()
    const deaf = () => new Promise(() => {})
    const runtime = await here.open({ agents: { held, deaf } })
    const run = await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await prompts(runtime, 'next')
    await runtime.cancel(run.id)
    await passTime(here.clock, held.started('next'))
    const ending = (await logOf(runtime, thread)).find((event) => event.type === 'task.cancelled')
    expect(ending).toMatchObject({ task: run.id, data: { forced: true } })
  })

  it('a prompt that comes while the active run unwinds is not stranded', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const [first] = await prompts(runtime, 'a')
    await held.started('a')
    const commit = here.store.hold()
    held.release('a')
    await commit.reached
    const accepting = prompts(runtime, 'b', 'c')
    commit.open()
    const [second, third] = await accepting
    await held.started('b')
    held.release('b')
    held.release('c')
    await runtime.wait(third?.id ?? '')
    expect((await runtime.get(first?.id ?? ''))?.status).toBe('completed')
    expect((await runtime.get(second?.id ?? ''))?.status).toBe('completed')
    expect(await startedPrompts(runtime)).toEqual(['a', 'b', 'c'])
  })

  it('a prompt that comes while the end cannot be stored is refused, and the queue goes on when it can', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const [first, second] = await prompts(runtime, 'a', 'b')
    await held.started('a')
    here.store.down()
    held.release('a')
    held.release('b')
    await expect(prompts(runtime, 'refused')).rejects.toMatchObject({ code: 'store_unavailable' })
    here.store.up()
    await passTime(here.clock, runtime.wait(second?.id ?? ''))
    expect((await runtime.get(first?.id ?? ''))?.status).toBe('completed')
    expect(await startedPrompts(runtime)).toEqual(['a', 'b'])
  })

  it('the end of a run and the turn of the next are one commit, so a crash between them is none', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    const [first] = await prompts(runtime, 'a', 'b', 'c')
    await held.started('a')
    here.store.plan((units) => (units.some((unit) => unit.operation === 'end') ? 'crash_after' : 'none'))
    held.release('a')
    await here.store.crashed
    await here.crash()
    const next = await here.open({ agents: { held } })
    expect((await next.get(first?.id ?? ''))?.status).toBe('completed')
    await held.started('b')
    expect(await positions(next)).toEqual([
      ['b', undefined],
      ['c', 0],
    ])
  })

  it('the queue keeps its order over crashes, and what comes later comes later', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    await prompts(runtime, 'a', 'b')
    await held.started('a')
    await here.crash()
    const second = await here.open({ agents: { held } })
    await prompts(second, 'c')
    held.release('a')
    await eventsUntil(second, { thread }, (event) => event.type === 'task.completed')
    await here.crash()
    const third = await here.open({ agents: { held } })
    const [last] = await prompts(third, 'd')
    for (const prompt of ['d', 'c', 'b']) held.release(prompt)
    await third.wait(last?.id ?? '')
    expect(await startedPrompts(third)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('a pending run says how many start before it, wherever it is read, and moves up', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const [first, second, third, fourth] = await prompts(runtime, 'a', 'b', 'c', 'd')
    expect([first, second, third, fourth].map((run) => run?.position)).toEqual([undefined, 0, 1, 2])
    const all = [
      ['a', undefined],
      ['b', 0],
      ['c', 1],
      ['d', 2],
    ]
    expect(await positions(runtime)).toEqual(all)
    const { tasks } = await runtime.thread(thread)
    expect(tasks.map((task) => [task.input, task.position])).toEqual(all)
    expect((await runtime.get(fourth?.id ?? ''))?.position).toBe(2)
    await runtime.cancel(second?.id ?? '')
    expect((await runtime.get(fourth?.id ?? ''))?.position).toBe(1)
    held.release('a')
    await held.started('c')
    expect(await positions(runtime)).toEqual([
      ['c', undefined],
      ['d', 0],
    ])
    expect(await runtime.get(second?.id ?? '')).not.toHaveProperty('position')
  })

  it('a full queue refuses another run, and leaves nothing of it', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held }, limits: { queuedRunsPerThread: 2 } })
    await prompts(runtime, 'a', 'b', 'c')
    const { head } = await runtime.thread(thread)
    await expect(prompts(runtime, 'd')).rejects.toMatchObject({ code: 'limit_reached' })
    expect((await runtime.thread(thread)).head).toBe(head)
    held.release('a')
    await held.started('b')
    const [next] = await prompts(runtime, 'd')
    expect(next?.status).toBe('pending')
  })
})
