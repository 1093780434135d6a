import { expect, it } from 'vitest'
import { type AgentContext, failed, type ListOptions, type Runtime, type Task } from '../../src/index.ts'
import { heldAgent } from './held-agent.ts'
import { onEachStore } from './world.ts'

async function inputs(runtime: Runtime, options: ListOptions): Promise<unknown[]> {
  return (await runtime.list(options)).tasks.map((task) => task.input)
}

/** All tasks, page by page. */
async function allPages(runtime: Runtime, options: ListOptions): Promise<Task[][]> {
  const pages: Task[][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await runtime.list({ ...options, ...(cursor !== undefined && { cursor }) })
    pages.push([...page.tasks])
    cursor = page.cursor
    if (cursor === undefined) return pages
  }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('RUN-09 listing filters by status', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const thread = 't'
    const [done, broken, stopped, active] = ['done', 'broken', 'stopped', 'active']
    for (const prompt of [done, broken, stopped, active, 'waiting']) {
      await runtime.run({ thread, agent: 'held', prompt })
    }
    held.release(done)
    held.release(broken, () => failed('no'))
    const { id } = await held.started(stopped).then((ctx) => ({ id: ctx.taskId }))
    await runtime.cancel(id)
    await held.started(active)
    expect(await inputs(runtime, { status: 'completed' })).toEqual([done])
    expect(await inputs(runtime, { status: 'failed' })).toEqual([broken])
    expect(await inputs(runtime, { status: 'cancelled' })).toEqual([stopped])
    expect(await inputs(runtime, { status: 'running' })).toEqual([active])
    expect(await inputs(runtime, { status: 'pending' })).toEqual(['waiting'])
    expect(await inputs(runtime, { status: ['failed', 'pending'] })).toEqual(['waiting', broken])
    expect(await inputs(runtime, { status: [] })).toEqual([])
    expect(await inputs(runtime, {})).toEqual(['waiting', active, stopped, broken, done])
  })

  it('listing filters by thread, type, name and parent, alone and together', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held, parent } })
    const { id } = await runtime.run({ thread: 'a', agent: 'parent', prompt: 'parent' })
    await Promise.all([held.started('child 1'), held.started('child 2')])
    await runtime.spawn({ thread: 'a', agent: 'held', prompt: 'lint', type: 'check', name: 'helper' })
    await runtime.spawn({ thread: 'b', agent: 'held', prompt: 'other', name: 'helper' })
    expect(await inputs(runtime, { thread: 'b' })).toEqual(['other'])
    expect(await inputs(runtime, { thread: 'never' })).toEqual([])
    expect(await inputs(runtime, { type: 'run' })).toEqual(['parent'])
    expect(await inputs(runtime, { type: 'check' })).toEqual(['lint'])
    expect(await inputs(runtime, { name: 'helper' })).toEqual(['other', 'lint'])
    expect(await inputs(runtime, { name: 'helper', thread: 'a' })).toEqual(['lint'])
    expect(await inputs(runtime, { parent: id })).toEqual(['child 2', 'child 1'])
    expect(await inputs(runtime, { parent: id, name: 'second' })).toEqual(['child 2'])
    expect(await inputs(runtime, { parent: id, thread: 'b' })).toEqual([])
    expect(await inputs(runtime, { type: 'agent', status: 'completed' })).toEqual([])
    expect(await inputs(runtime, { roots: true })).toEqual(['other', 'lint', 'parent'])
    expect(await inputs(runtime, { roots: true, parent: id })).toEqual([])
  })

  it('pages follow each other without a gap or a repeat while tasks are added and end', async () => {
    const held = heldAgent()
    const runtime = await world().open({ agents: { held } })
    const prompts = Array.from({ length: 11 }, (_each, n) => `p${n}`)
    const tasks: Task[] = []
    for (const prompt of prompts) tasks.push(await runtime.spawn({ thread: 't', agent: 'held', prompt }))
    const first = await runtime.list({ thread: 't', limit: 4 })
    await runtime.spawn({ thread: 't', agent: 'held', prompt: 'later' })
    held.release('p5')
    await runtime.wait(tasks[5]?.id ?? '')
    const second = await runtime.list({ thread: 't', limit: 4, cursor: first.cursor ?? '' })
    const third = await runtime.list({ thread: 't', limit: 4, cursor: second.cursor ?? '' })
    expect([first, second, third].flatMap((page) => page.tasks.map((task) => task.input))).toEqual(prompts.toReversed())
    expect(third).not.toHaveProperty('cursor')
    const running = await allPages(runtime, { thread: 't', status: 'running', limit: 5 })
    expect(running.map((page) => page.length)).toEqual([5, 5, 1])
    const exact = await allPages(runtime, { thread: 't', limit: 12 })
    expect(exact.map((page) => page.length)).toEqual([12])
  })

  it.for([0, -1, 1.5, 1001, Number.NaN])('a limit of %d is refused', async (limit) => {
    const runtime = await world().open()
    await expect(runtime.list({ limit })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('a cursor that no page gave is refused', async () => {
    const runtime = await world().open()
    await expect(runtime.list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('threads are listed with the newest event first, page by page', async () => {
    const here = world()
    const held = heldAgent()
    const runtime = await here.open({ agents: { held } })
    for (const thread of ['a', 'b', 'c']) {
      await here.clock.advance(1_000)
      await runtime.spawn({ thread, agent: 'held', prompt: thread })
    }
    await here.clock.advance(1_000)
    held.release('a')
    const [ended] = (await runtime.list({ thread: 'a' })).tasks
    await runtime.wait(ended?.id ?? '')
    const first = await runtime.threads({ limit: 2 })
    const second = await runtime.threads({ limit: 2, cursor: first.cursor ?? '' })
    expect([first, second].map((page) => page.threads.map((each) => [each.thread, each.head]))).toEqual([
      [
        ['a', 3],
        ['c', 2],
      ],
      [['b', 2]],
    ])
    expect(second).not.toHaveProperty('cursor')
  })
})

async function parent(ctx: AgentContext): Promise<void> {
  await ctx.spawn({ agent: 'held', prompt: 'child 1' })
  await ctx.spawn({ agent: 'held', prompt: 'child 2', name: 'second' })
  await ctx.sleep(1_000_000)
}
