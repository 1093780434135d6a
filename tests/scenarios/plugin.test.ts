import { expect, it } from 'vitest'
import {
  type AgentContext,
  type BackgroundTasks,
  backgroundTasks,
  type PersistedTasks,
  type Runtime,
  type ToolPlace,
  viewText,
} from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

const thread = 't'
const toolNames = ['spawn_task', 'list_tasks', 'wait_task', 'cancel_task', 'send_message'] as const

function use(plugin: BackgroundTasks, name: (typeof toolNames)[number], input: unknown, place: ToolPlace = { thread }) {
  const tool = plugin.tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`There is no tool ${name}`)
  return tool.execute(input, place)
}

async function ended(runtime: Runtime, run: () => unknown, name?: string): Promise<string> {
  const task = await runtime.spawn({ thread, run, ...(name !== undefined && { name }) })
  await runtime.wait(task.id)
  return task.id
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-11 one plugin named background_tasks brings tools and hooks, and changes nothing until a hook runs', async () => {
    const here = world()
    const runtime = await here.open()
    const task = await runtime.spawn({ thread, run: untilStopped, name: 'scout', description: 'look around' })
    await here.quiet()
    const before = { calls: here.store.commitCount, log: await logOf(runtime, thread) }
    const asked: string[] = []
    const plugin = backgroundTasks(runtime, {
      load: (of) => void asked.push(`load ${of}`),
      persist: (of) => void asked.push(`persist ${of}`),
    })
    await here.quiet()
    expect(plugin.name).toBe('background_tasks')
    expect(plugin.tools.map((tool) => tool.name)).toEqual(toolNames)
    expect([plugin.view(thread), asked]).toEqual([[], []])
    expect({ calls: here.store.commitCount, log: await logOf(runtime, thread) }).toEqual(before)
    await plugin.onRunStart({ thread })
    expect(viewText(plugin.view(thread))).toBe(`${task.id} scout [running] look around`)
    expect(plugin.view('other')).toEqual([])
    await plugin.onRunEnd({ thread })
    expect([plugin.view(thread), asked]).toEqual([[], ['load t', 'persist t']])
    expect(here.store.commitCount).toBe(before.calls)
  })

  it('REST-11 the tools describe their input by a JSON schema, and refuse what does not fit it', async () => {
    const plugin = backgroundTasks(await world().open())
    for (const { name, description, inputSchema } of plugin.tools) {
      expect(description).toMatch(/\.$/)
      expect(JSON.parse(JSON.stringify(inputSchema))).toMatchObject({ type: 'object', additionalProperties: false })
      const required = inputSchema['required'] as string[]
      if (required.length === 0) continue
      for (const input of [{}, undefined, null, 'bg_0', { [required[0] ?? '']: 7 }]) {
        await expect(use(plugin, name as 'cancel_task', input)).rejects.toMatchObject({ code: 'invalid_input' })
      }
    }
  })

  it('REST-11 cancel_task cancels a task of its own thread with what it spawned, by id or by name', async () => {
    const runtime = await world().open()
    const plugin = backgroundTasks(runtime)
    await plugin.onRunStart({ thread })
    const hasSpawned = gate()
    const parent = await runtime.spawn({
      thread,
      name: 'lead',
      run: async (ctx) => {
        await ctx.spawn({ run: untilStopped })
        hasSpawned.open()
        return untilStopped(ctx)
      },
    })
    await hasSpawned.opened
    const elsewhere = await runtime.spawn({ thread: 'other', name: 'far', run: untilStopped })
    const foreign = await runtime.as('alice').spawn({ thread, run: untilStopped })
    for (const task of [elsewhere.id, 'far', foreign.id, 'bg_99', '']) {
      expect(await use(plugin, 'cancel_task', { task })).toEqual({ task, cancelled: 0, reason: 'not_found' })
    }
    expect(await use(plugin, 'cancel_task', { task: 'lead', reason: 'no need' })).toEqual({
      task: parent.id,
      cancelled: 2,
    })
    expect(await runtime.wait(parent.id)).toMatchObject({ status: 'cancelled' })
    expect(await use(plugin, 'cancel_task', { task: parent.id })).toEqual({
      task: parent.id,
      cancelled: 0,
      reason: 'ended',
      status: 'cancelled',
    })
    expect(await runtime.get(elsewhere.id)).toMatchObject({ status: 'running' })
    expect(plugin.view(thread).find((line) => line.id === parent.id)).toMatchObject({
      status: 'cancelled',
      name: 'lead',
    })
  })

  it('REST-11 an agent spawns, lists, messages and awaits background tasks with the tools, inside its run', async () => {
    const here = world()
    const agents = {
      helper: async (ctx: AgentContext) => {
        const item = await ctx.receive()
        return item?.kind === 'custom' ? item.payload : 'nothing'
      },
      lead: async (ctx: AgentContext) => {
        const plugin = backgroundTasks(runtime)
        const place = { thread: ctx.thread, task: ctx.taskId, ctx }
        await plugin.onRunStart({ thread: ctx.thread })
        const asked = { agent: 'helper', prompt: 'help', name: 'helper', description: 'helps' }
        const spawned = await ctx.tool('spawn_task', asked, () => use(plugin, 'spawn_task', asked, place))
        const sent = await use(plugin, 'send_message', { task: 'helper', content: 'go' }, place)
        const waited = await use(plugin, 'wait_task', { task: 'helper' }, place)
        const listed = await use(plugin, 'list_tasks', {}, place)
        await plugin.onRunEnd({ thread: ctx.thread })
        return { spawned, sent, waited, listed }
      },
    }
    // One slot: waiting for the helper must give it up.
    const runtime = await here.open({ agents, concurrency: 1 })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'lead' })
    const answer = { from: run.id, content: 'go' }
    expect((await runtime.wait(run.id))?.result).toMatchObject({
      spawned: { task: 'bg_1', name: 'helper' },
      sent: { task: 'bg_1', isSent: true },
      waited: { task: 'bg_1', status: 'completed', answer },
      listed: { tasks: [{ id: 'bg_1', name: 'helper', status: 'completed', description: 'helps' }] },
    })
    expect(await runtime.get('bg_1')).toMatchObject({
      detached: true,
      parent: { task: run.id, run: run.id, agent: 'lead' },
    })
  })

  it('the tools work outside of any task as well, and name the task they are called for as parent', async () => {
    const runtime = await world().open({ agents: { echo: (_ctx: AgentContext, input: string) => input } })
    const plugin = backgroundTasks(runtime)
    const parent = await runtime.spawn({ thread, run: untilStopped })
    const asked = { agent: 'echo', prompt: 'hello' }
    const spawned = (await use(plugin, 'spawn_task', asked, { thread, task: parent.id })) as { task: string }
    expect(await use(plugin, 'wait_task', { task: spawned.task })).toEqual({
      task: spawned.task,
      status: 'completed',
      answer: 'hello',
    })
    expect(await runtime.get(spawned.task)).toMatchObject({ parent: { task: parent.id }, detached: true })
    const missing = { task: 'bg_99' }
    expect(await use(plugin, 'wait_task', missing)).toEqual({ ...missing, reason: 'not_found' })
    expect(await use(plugin, 'send_message', { ...missing, content: '' })).toEqual({
      ...missing,
      isSent: false,
      reason: 'not_found',
    })
    const stranger = await ended(runtime, () => 'a function of this process')
    expect(await use(plugin, 'send_message', { task: stranger, content: '' })).toMatchObject({
      isSent: false,
      reason: 'task_terminated',
      taskStatus: 'completed',
    })
  })

  it('REST-09 opening a run of a thread restores its tasks, ending it persists them, from store to store', async () => {
    const kept = new Map<string, PersistedTasks>()
    const views: string[][] = []
    const open = async () => {
      const agents = {
        lead: async (ctx: AgentContext) => {
          await plugin.onRunStart({ thread: ctx.thread })
          views.push(plugin.view(ctx.thread).map((line) => `${line.id} ${line.status}`))
          const { id } = await ctx.spawn({ run: () => `done for ${ctx.taskId}`, detached: true })
          await ctx.wait(id)
          await plugin.onRunEnd({ thread: ctx.thread })
        },
      }
      const runtime = await world().open({ agents })
      const plugin = backgroundTasks(runtime, {
        load: (of) => Promise.resolve(kept.get(of)),
        persist: (of, tasks) => void kept.set(of, tasks),
      })
      return runtime
    }
    const here = await open()
    await here.spawn({ thread, run: untilStopped })
    await here.wait((await here.run({ thread, agent: 'lead', prompt: 'one' })).id)
    expect(Object.keys(kept.get(thread) ?? {}).toSorted()).toEqual(['bg_0', 'bg_1', 'bg_2'])
    expect(kept.get(thread)?.['bg_2']).toMatchObject({ status: 'completed', result: 'done for bg_1' })

    const there = await open()
    expect(await there.get('bg_2')).toBeUndefined()
    const unrelated = await there.spawn({ thread: 'unrelated', run: () => 'was here before' })
    await there.wait((await there.run({ thread, agent: 'lead', prompt: 'two' })).id)
    expect(unrelated.id).toBe('bg_0')
    expect(await there.get('bg_2')).toMatchObject({ status: 'completed', result: 'done for bg_1', thread })
    expect(views).toEqual([['bg_0 running'], ['bg_2 completed']])
    expect(Object.keys(kept.get(thread) ?? {}).toSorted()).toEqual(['bg_1', 'bg_2', 'bg_3'])
  })

  it('REST-09 only tasks of the thread itself are restored at the start of its run', async () => {
    const runtime = await world().open()
    await ended(runtime, () => 'mine', 'own')
    const [own] = (await runtime.list({ thread })).tasks
    if (!own) throw new Error('The task is there')
    const stray = { ...own, id: 'stray' as typeof own.id, thread: 'other' as typeof own.thread }
    const plugin = backgroundTasks(runtime, { load: () => ({ [own.id]: own, stray }) })
    await plugin.onRunStart({ thread })
    expect(plugin.view(thread).map((line) => line.id)).toEqual([own.id])
    expect(await runtime.get('stray')).toBeUndefined()
  })
})
