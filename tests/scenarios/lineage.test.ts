import { expect, it } from 'vitest'
import type { AgentContext, Task } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('LINE-01 an explicit parent context comes back from get, list, the snapshot and the log', async () => {
    const runtime = await world().open()
    const outer = await runtime.spawn({ thread: 't', run: untilStopped })
    const parent = { task: outer.id, run: 'bg_77', call: 'call_1', agent: 'researcher' }
    const task = await runtime.spawn({ thread: 't', run: untilStopped, parent })
    expect(task.parent).toEqual(parent)
    expect((await runtime.get(task.id))?.parent).toEqual(parent)
    expect((await runtime.list({ parent: outer.id })).tasks.map(({ id, parent: p }) => [id, p])).toEqual([
      [task.id, parent],
    ])
    expect((await runtime.thread('t')).tasks.find(({ id }) => id === task.id)?.parent).toEqual(parent)
    const accepted = (await logOf(runtime, 't')).find((event) => event.task === task.id)
    expect(accepted?.data).toMatchObject({ task: { id: task.id, parent } })
    const lineageOnly = await runtime.spawn({ thread: 't', run: untilStopped, parent: { call: 'call_2' } })
    expect((await runtime.get(lineageOnly.id))?.parent).toEqual({ call: 'call_2' })
    expect(await runtime.cancelTree(outer.id)).toBe(2)
  })

  it('LINE-01 the parent context is there after a restart and after the end', async () => {
    const here = world()
    const first = await here.open()
    const parent = { run: 'bg_77', call: 'call_1', agent: 'researcher' }
    const task = await first.spawn({ thread: 't', run: () => 'done', parent })
    await first.wait(task.id)
    await first.close()
    const second = await here.open()
    expect(await second.get(task.id)).toMatchObject({ status: 'completed', parent })
  })

  it('LINE-02 a spawn inside a tool call inherits task, run, call and agent with nothing passed by hand', async () => {
    const here = world()
    const spawned = gate<Task>()
    const callIds: string[] = []
    const researcher = async (ctx: AgentContext) => {
      await ctx.tool('search', { q: 'x' }, async ({ id }) => {
        callIds.push(id)
        spawned.open(await runtime.spawn({ thread: 't', run: untilStopped }))
      })
      await untilStopped(ctx)
    }
    const runtime = await here.open({ agents: { researcher } })
    const run = await runtime.run({ thread: 't', agent: 'researcher', prompt: 'go' })
    const { id } = await spawned.opened
    const parent = { task: run.id, run: run.id, call: callIds[0], agent: 'researcher' }
    expect((await runtime.get(id))?.parent).toEqual(parent)
    const calls = (await logOf(runtime, 't')).flatMap((event) => (event.type === 'tool.call' ? event.data.id : []))
    expect(calls).toEqual(callIds)
    expect(await runtime.cancelTree(run.id)).toBe(2)
  })

  it("LINE-02 a spawn in another framework's tool call inherits what the scope around it says", async () => {
    const runtime = await world().open()
    const task = await runtime.within({ run: 'bg_77', call: 'call_1', agent: 'planner' }, () =>
      runtime.within({ call: 'call_2' }, () => runtime.spawn({ thread: 't', run: untilStopped })),
    )
    expect((await runtime.get(task.id))?.parent).toEqual({ run: 'bg_77', call: 'call_2', agent: 'planner' })
    const after = await runtime.spawn({ thread: 't', run: untilStopped })
    expect(after).not.toHaveProperty('parent')
  })

  it('LINE-02 parallel tool calls each give their own id to what is spawned inside', async () => {
    const here = world()
    const both = gate()
    let inside = 0
    const agents = {
      parallel: async (ctx: AgentContext) => {
        const search = (q: number) =>
          ctx.tool(`search${q}`, { q }, async ({ id }) => {
            inside += 1
            if (inside === 2) both.open()
            await both.opened
            const child = await ctx.spawn({ run: () => q })
            return { id, child: child.id }
          })
        return Promise.all([search(1), search(2)])
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'parallel', prompt: 'go' })
    const calls = (await runtime.wait(run.id))?.result as { id: string; child: string }[]
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    for (const { id, child } of calls)
      expect((await runtime.get(child))?.parent).toMatchObject({ call: id, run: run.id })
  })

  it('LINE-03 a spawn inside a task inherits that task, which is readable inside it, and cancelTree counts both', async () => {
    const here = world()
    const inner = gate<{ task: Task; current: string | undefined }>()
    const runtime = await here.open()
    const outer = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        const task = await runtime.spawn({ thread: 't', run: untilStopped })
        inner.open({ task, current: await runtime.currentTask() })
        await untilStopped(ctx)
      },
    })
    const { task, current } = await inner.opened
    expect(current).toBe(outer.id)
    expect(await runtime.currentTask()).toBeUndefined()
    expect((await runtime.get(task.id))?.parent).toEqual({ task: outer.id })
    expect(await runtime.cancelTree(outer.id)).toBe(2)
    for (const { id } of [outer, task]) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
  })

  it('LINE-03 a grandchild has its own parent, and the run and agent at the top of the tree', async () => {
    const here = world()
    const grandchild = gate<Task>()
    const agents = {
      lead: async (ctx: AgentContext) => {
        await ctx.spawn({ agent: 'helper' })
        await untilStopped(ctx)
      },
      helper: async (ctx: AgentContext) => {
        grandchild.open(await ctx.spawn({ run: untilStopped }))
        await untilStopped(ctx)
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'lead', prompt: 'go' })
    const { parent } = await grandchild.opened
    expect(parent).toEqual({ task: 'bg_1', run: run.id, agent: 'helper' })
    expect((await runtime.get('bg_1'))?.parent).toEqual({ task: run.id, run: run.id, agent: 'lead' })
  })

  it('LINE-03 an explicit parent task replaces the ambient one as a whole', async () => {
    const here = world()
    const spawned = gate<Task>()
    const runtime = await here.open({
      agents: {
        lead: async (ctx: AgentContext, { other }: { other: string }) => {
          const spawn = () => ctx.spawn({ run: untilStopped, parent: { task: other } })
          spawned.open(await ctx.tool('delegate', {}, spawn))
          await untilStopped(ctx)
        },
      },
    })
    const other = await runtime.spawn({ thread: 't', run: untilStopped })
    await runtime.run({ thread: 't', agent: 'lead', input: { other: other.id } })
    const { id } = await spawned.opened
    expect((await runtime.get(id))?.parent).toEqual({ task: other.id })
  })

  it('LINE-03 a task spawned into another thread, or for another principal, is a root there', async () => {
    const here = world()
    const spawned = gate<Task[]>()
    const runtime = await here.open()
    const outer = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        const elsewhere = await ctx.spawn({ thread: 'u', run: untilStopped })
        spawned.open([elsewhere, await runtime.as('alice').spawn({ thread: 't', run: untilStopped })])
        await untilStopped(ctx)
      },
    })
    for (const task of await spawned.opened) expect(task).not.toHaveProperty('parent')
    expect(await runtime.cancelTree(outer.id)).toBe(1)
    await runtime.wait(outer.id)
    expect(await runtime.hasRunning('u')).toBe(true)
    expect(await runtime.as('alice').hasRunning('t')).toBe(true)
  })

  it('LINE-04 an empty parent context is left out of the JSON, a filled one is in it', async () => {
    const runtime = await world().open()
    const empty = await runtime.spawn({ thread: 't', run: untilStopped, parent: {} })
    const filled = await runtime.spawn({ thread: 't', run: untilStopped, parent: { agent: 'lead' } })
    const shapes = [empty, await runtime.get(empty.id), ...(await runtime.list({ thread: 't' })).tasks.slice(1)]
    for (const task of shapes) expect(JSON.stringify(task)).not.toContain('"parent"')
    expect(JSON.stringify(await runtime.get(filled.id))).toContain('"parent":{"agent":"lead"}')
    const [accepted] = await logOf(runtime, 't')
    expect(JSON.stringify(accepted)).not.toContain('"parent"')
  })

  it('LINE-05 an agent task sees its own id in its context', async () => {
    const own = (ctx: AgentContext) => ({ id: ctx.taskId, thread: ctx.thread })
    const runtime = await world().open({ agents: { own } })
    const tasks = [
      await runtime.spawn({ thread: 't', agent: 'own' }),
      await runtime.spawn({ thread: 'u', run: own }),
      await runtime.run({ thread: 't', agent: 'own', prompt: 'who?' }),
    ]
    for (const { id, thread } of tasks) expect((await runtime.wait(id))?.result).toEqual({ id, thread })
  })
})
