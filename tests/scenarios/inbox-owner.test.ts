import { expect, it } from 'vitest'
import {
  type AgentContext,
  cancelled,
  createInbox,
  failed,
  type Inbox,
  type InboxItem,
  type Runtime,
} from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, logOf, onEachStore } from './world.ts'

/** Spawns a function and waits for its end. */
async function ended(
  runtime: Runtime,
  run: (ctx: AgentContext) => unknown,
  options: { readonly inbox?: Inbox; readonly type?: string } = {},
) {
  const task = await runtime.spawn({ thread: 't', run, ...options })
  await runtime.wait(task.id)
  return task.id
}

/** Takes items until the end of a task is among them. */
async function untilEnd(inbox: Inbox, task: string): Promise<InboxItem[]> {
  const items: InboxItem[] = []
  for await (const item of inbox) {
    items.push(item)
    if (item.taskId === task && item.kind !== 'custom') break
  }
  return items
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('INBX-01 a task sends to the owner inbox, and what it sends arrives in order', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    const sent: (boolean | undefined)[] = []
    const id = await ended(runtime, (ctx) => {
      for (let n = 0; n < 3; n++) sent.push(ctx.owner?.send('tick', { n }))
    })
    expect(sent).toEqual([true, true, true])
    expect(inbox.drain()).toEqual([
      ...[0, 1, 2].map((n) => ({ kind: 'custom', taskId: id, eventType: 'tick', payload: { n } })),
      { kind: 'completed', taskId: id },
    ])
    const types = (await logOf(runtime, 't')).map((event) => event.type)
    expect(types).toEqual(['task.accepted', 'task.started', 'task.completed'])
  })

  it('INBX-02 without an owner inbox the context has none, and the task still runs', async () => {
    const runtime = await world().open()
    const id = await ended(runtime, (ctx) => ({ hasOwner: 'owner' in ctx && ctx.owner !== undefined }))
    expect(await runtime.get(id)).toMatchObject({ status: 'completed', result: { hasOwner: false } })
  })

  it('INBX-03 each ending reaches the owner inbox with its kind, the task, and the result or the error', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    const completed = await ended(runtime, () => ({ deep: [{ value: 1 }] }))
    const thrown = await ended(runtime, () => {
      throw new Error('no such page')
    })
    const stated = await ended(runtime, () => failed('stated'))
    const itself = await ended(runtime, () => cancelled())
    const { id: stopped } = await runtime.spawn({ thread: 't', run: untilStopped })
    await runtime.cancel(stopped)
    await runtime.wait(stopped)
    expect(inbox.drain()).toEqual([
      { kind: 'completed', taskId: completed, result: { deep: [{ value: 1 }] } },
      { kind: 'failed', taskId: thrown, error: { code: 'agent_error', message: 'no such page' } },
      { kind: 'failed', taskId: stated, error: { code: 'agent_error', message: 'stated' } },
      { kind: 'cancelled', taskId: itself, error: { code: 'cancelled', message: 'The task was cancelled by itself' } },
      { kind: 'cancelled', taskId: stopped, error: { code: 'cancelled', message: 'The task was cancelled by owner' } },
    ])
  })

  it('INBX-04 a receiver that is gone before or during the task gets nothing, the fallback gets it all', async () => {
    const rejected: [string, InboxItem][] = []
    const make = () => createInbox({ onClosed: (item, why) => void rejected.push([why, item]) })
    const before = make()
    before.close()
    const runtime = await world().open({ inbox: before })
    const first = await ended(runtime, async (ctx) => {
      await ctx.emit('ready')
      return ctx.owner?.send('direct', 1)
    })
    expect(await runtime.get(first)).toMatchObject({ status: 'completed', result: false })
    expect(rejected.splice(0)).toEqual([
      ['closed', { kind: 'custom', taskId: first, eventType: 'direct', payload: 1 }],
      ['closed', { kind: 'custom', taskId: first, eventType: 'ready' }],
      ['closed', { kind: 'completed', taskId: first, result: false }],
    ])

    const during = make()
    await runtime.setInbox(during)
    const left = gate()
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        await ctx.emit('seen')
        await left.opened
        await ctx.emit('unseen')
      },
    })
    expect(await during.next()).toMatchObject({ value: { eventType: 'seen' } })
    during.close()
    left.open()
    await runtime.wait(task.id)
    expect(during.drain()).toEqual([])
    expect(rejected).toEqual([
      ['closed', { kind: 'custom', taskId: task.id, eventType: 'unseen' }],
      ['closed', { kind: 'completed', taskId: task.id }],
    ])
  })

  it('INBX-05 a custom event arrives with its event type and payload, after it is in the log', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    const held = gate()
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        await ctx.emit('page_found', { url: 'a', hits: [1, null] })
        await ctx.emit('bare')
        await held.opened
      },
    })
    const payload = { url: 'a', hits: [1, null] }
    expect((await inbox.next()).value).toEqual({
      kind: 'custom',
      taskId: task.id,
      eventType: 'page_found',
      payload,
    })
    const seen = (await logOf(runtime, 't')).filter((event) => event.type === 'custom')
    expect(seen[0]?.data).toEqual({ name: 'page_found', payload })
    expect((await inbox.next()).value).toEqual({ kind: 'custom', taskId: task.id, eventType: 'bare' })
    held.open()
    await runtime.wait(task.id)
  })

  it('INBX-06 five emits and an ending are exactly six items, which a drain takes', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    expect(inbox.drain()).toEqual([])
    await ended(runtime, async (ctx) => {
      await ctx.say('said, thought and counted is not sent to the owner')
      await ctx.think('hm')
      await ctx.progress(0.5)
      await ctx.step('one', () => ctx.emit('n', 0))
      for (let n = 1; n < 5; n++) await ctx.emit('n', n)
    })
    expect(inbox.size).toBe(6)
    const items = inbox.drain()
    expect(items.map((item) => (item.kind === 'custom' ? item.payload : item.kind))).toEqual([
      0,
      1,
      2,
      3,
      4,
      'completed',
    ])
    expect(inbox.drain()).toEqual([])
  })

  it('INBX-07 tasks that share an inbox are told apart by their ids', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    const run = async (ctx: AgentContext) => {
      for (let n = 0; n < 5; n++) await ctx.emit('n', { by: ctx.taskId, n })
      return ctx.taskId
    }
    const tasks = await Promise.all(['a', 'b', 'a'].map((thread) => runtime.spawn({ thread, run })))
    for (const task of tasks) await runtime.wait(task.id)
    const items = inbox.drain()
    expect(items).toHaveLength(18)
    for (const { id } of tasks) {
      const own = items.filter((item) => item.taskId === id)
      const emits = [0, 1, 2, 3, 4].map((n) => ({
        kind: 'custom',
        taskId: id,
        eventType: 'n',
        payload: { by: id, n },
      }))
      expect(own).toEqual([...emits, { kind: 'completed', taskId: id, result: id }])
    }
  })

  it('INBX-08 of 100 emits in one tick none is lost, and they come in order', async () => {
    const inbox = createInbox()
    const runtime = await world().open({ inbox })
    const id = await ended(runtime, (ctx) => {
      for (let n = 0; n < 100; n++) void ctx.emit('n', n)
    })
    const items = inbox.drain()
    expect(items.slice(0, 100).map((item) => item.kind === 'custom' && item.payload)).toEqual(
      Array.from({ length: 100 }, (_, n) => n),
    )
    expect(items.slice(100)).toEqual([{ kind: 'completed', taskId: id }])
  })

  it('an owner that never drains loses nothing in silence: what no longer fits goes to the fallback', async () => {
    const rejected: string[] = []
    const inbox = createInbox({ capacity: 2, onClosed: (item, why) => void rejected.push(`${why} ${item.kind}`) })
    const runtime = await world().open({ inbox })
    await ended(runtime, async (ctx) => {
      for (let n = 0; n < 4; n++) await ctx.emit('n', n)
    })
    expect(inbox.drain().map((item) => item.kind === 'custom' && item.payload)).toEqual([0, 1])
    expect(rejected).toEqual(['full custom', 'full custom', 'full completed'])
  })

  it('INBX-17 an agent task owns its children: their events reach its inbox, its owner sees it complete', async () => {
    const outer = createInbox()
    const runtime = await world().open({ inbox: outer })
    const child = async (ctx: AgentContext) => {
      await ctx.emit('found', { by: ctx.taskId })
      ctx.owner?.send('direct', ctx.taskId)
      return ctx.taskId
    }
    const parent = await ended(runtime, async (ctx) => {
      const inner = createInbox()
      const children = []
      for (const name of ['one', 'two']) children.push(await ctx.spawn({ name, run: child, inbox: inner }))
      for (const { id } of children) await ctx.wait(id)
      return { ids: children.map(({ id }) => id), items: inner.drain() }
    })
    const result = (await runtime.get(parent))?.result as { ids: string[]; items: InboxItem[] }
    expect(outer.drain()).toEqual([{ kind: 'completed', taskId: parent, result }])
    expect(result.items).toHaveLength(6)
    for (const id of result.ids) {
      const own = result.items.filter((item) => item.taskId === id)
      const kinds = own.map((item) => (item.kind === 'custom' ? item.eventType : item.kind))
      expect(kinds.toSorted()).toEqual(['completed', 'direct', 'found'])
      expect(kinds.at(-1)).toBe('completed')
    }
  })

  it('INBX-18 events of a nested agent flow to its parent up to the terminal one', async () => {
    const outer = createInbox()
    const runtime = await world().open({ inbox: outer })
    const grandchild = async (ctx: AgentContext) => {
      await ctx.emit('deepest')
      throw new Error('deep trouble')
    }
    const child = async (ctx: AgentContext) => {
      const own = createInbox()
      const { id } = await ctx.spawn({ run: grandchild, inbox: own })
      for (const item of await untilEnd(own, id)) await ctx.emit('relayed', item)
      return 'relayed all'
    }
    const parent = await ended(runtime, async (ctx) => {
      const own = createInbox()
      const { id } = await ctx.spawn({ run: child, inbox: own })
      return (await untilEnd(own, id)).map((item) => ({ ...item, taskId: item.taskId === id ? 'child' : '?' }))
    })
    const error = { code: 'agent_error', message: 'deep trouble' }
    expect((await runtime.get(parent))?.result).toEqual([
      {
        kind: 'custom',
        taskId: 'child',
        eventType: 'relayed',
        payload: expect.objectContaining({ eventType: 'deepest' }),
      },
      {
        kind: 'custom',
        taskId: 'child',
        eventType: 'relayed',
        payload: expect.objectContaining({ kind: 'failed', error }),
      },
      { kind: 'completed', taskId: 'child', result: 'relayed all' },
    ])
    expect(outer.drain().map((item) => item.taskId)).toEqual([parent])
  })
})
