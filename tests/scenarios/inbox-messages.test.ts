import { expect, it } from 'vitest'
import { type AgentContext, cancelled, type InboxItem, type Runtime } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, gate, onEachStore } from './world.ts'

/** Reads so many messages and gives them back. */
function reader(count: number) {
  return async (ctx: AgentContext): Promise<(InboxItem | undefined)[]> => {
    const items: (InboxItem | undefined)[] = []
    while (items.length < count) items.push(await ctx.receive())
    return items
  }
}

async function resultOf(runtime: Runtime, task: string): Promise<unknown> {
  return (await runtime.wait(task))?.result
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('INBX-09 a message to an agent task arrives as agent_message with sender and content', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: reader(2) })
    const content = { order: ['go', 1, null], deep: { text: 'é\u2028' } }
    const first = await runtime.send(task.id, { from: 'planner', content })
    const second = await runtime.send(task.id, { content: 'no sender' })
    expect([first.isSent, second.isSent]).toEqual([true, true])
    expect(await resultOf(runtime, task.id)).toEqual([
      { kind: 'custom', taskId: task.id, eventType: 'agent_message', payload: { from: 'planner', content } },
      { kind: 'custom', taskId: task.id, eventType: 'agent_message', payload: { content: 'no sender' } },
    ])
    const accepted = (await eventsOf(runtime, 't', task.id)).filter((event) => event.type === 'inbox.accepted')
    expect(accepted.map((event) => event.data)).toEqual([
      { id: first.isSent && first.id, from: 'planner', content },
      { id: second.isSent && second.id, content: 'no sender' },
    ])
  })

  it('INBX-09 messages that were sent before they are read are read first in, first out', async () => {
    const runtime = await world().open()
    const goOn = gate()
    const task = await runtime.spawn({
      thread: 't',
      run: async (ctx) => {
        await goOn.opened
        return reader(20)(ctx)
      },
    })
    await Promise.all(Array.from({ length: 20 }, (_, n) => runtime.send(task.id, { content: n })))
    goOn.open()
    const items = (await resultOf(runtime, task.id)) as { payload: { content: number } }[]
    expect(items.map((item) => item.payload.content)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  it('INBX-10 a send from a thread that does not own the task is refused as not_owner', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 'mine', run: untilStopped })
    const stranger = { content: 'hello' }
    expect(await runtime.send(task.id, stranger, { thread: 'other' })).toEqual({ isSent: false, reason: 'not_owner' })
    expect(await runtime.send(task.id, stranger, { thread: 'mine' })).toMatchObject({ isSent: true })
    await runtime.cancel(task.id)
    const accepted = (await eventsOf(runtime, 'mine', task.id)).filter((event) => event.type === 'inbox.accepted')
    expect(accepted).toHaveLength(1)
  })

  it('INBX-10 to another principal the task is not there at all', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: untilStopped })
    const refused = { isSent: false, reason: 'not_found' }
    expect(await runtime.as('mallory').send(task.id, { content: 1 })).toEqual(refused)
    expect(await runtime.as('mallory').send(task.id, { content: 1 }, { thread: 't' })).toEqual(refused)
  })

  it('INBX-11 a send to a finished task is refused and names the status it ended with', async () => {
    const runtime = await world().open()
    const bodies = {
      completed: () => 1,
      failed: () => Promise.reject(new Error('broken')),
      cancelled: () => cancelled(),
    }
    for (const [taskStatus, run] of Object.entries(bodies)) {
      const { id } = await runtime.spawn({ thread: 't', run })
      await runtime.wait(id)
      const { seq } = (await runtime.get(id)) ?? {}
      expect(await runtime.send(id, { content: 'late' })).toEqual({
        isSent: false,
        reason: 'task_terminated',
        taskStatus,
      })
      expect(await runtime.get(id)).toMatchObject({ seq })
    }
  })

  it('INBX-11 a send that loses the race with the end tells the status as well, and leaves nothing behind', async () => {
    const here = world()
    const runtime = await here.open()
    const finish = gate()
    const task = await runtime.spawn({ thread: 't', run: () => finish.opened })
    const held = here.store.hold()
    finish.open()
    await held.reached
    const sending = runtime.send(task.id, { content: 'too late' })
    held.open()
    expect(await sending).toEqual({ isSent: false, reason: 'task_terminated', taskStatus: 'completed' })
    const types = (await eventsOf(runtime, 't', task.id)).map((event) => event.type)
    expect(types).toEqual(['task.accepted', 'task.started', 'task.completed'])
  })

  it('INBX-12 a send to an unknown task is refused as not_found', async () => {
    const runtime = await world().open()
    for (const id of ['bg_99', '', 'parent', '__proto__', 'bg_0\u0000']) {
      expect(await runtime.send(id, { content: 'anyone?' })).toEqual({ isSent: false, reason: 'not_found' })
    }
    expect((await runtime.threads()).threads).toEqual([])
  })

  it('INBX-13 a send to a task without an inbox is refused as no_inbox', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', type: 'shell', run: untilStopped })
    expect(await runtime.send(task.id, { content: 'ls' })).toEqual({ isSent: false, reason: 'no_inbox' })
  })

  it('INBX-14 a message for one agent never reaches its sibling', async () => {
    const runtime = await world().open()
    const run = async (ctx: AgentContext) => [await ctx.receive(), await ctx.receive({ timeoutMs: 0 })]
    const [one, two] = await Promise.all(['one', 'two'].map((name) => runtime.spawn({ thread: 't', name, run })))
    for (const task of [two, one]) await runtime.send(task?.id ?? '', { content: `for ${task?.name}` })
    for (const task of [one, two]) {
      expect(await resultOf(runtime, task?.id ?? '')).toEqual([
        expect.objectContaining({ taskId: task?.id, payload: { content: `for ${task?.name}` } }),
        null,
      ])
    }
  })

  it('INBX-15 an unnamed task is reached by its id', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: reader(1) })
    expect(task).not.toHaveProperty('name')
    expect(await runtime.send('bg_0', { content: 'hello' })).toMatchObject({ isSent: true })
    expect(await resultOf(runtime, task.id)).toMatchObject([{ payload: { content: 'hello' } }])
  })

  it('INBX-16 an empty message is delivered', async () => {
    const runtime = await world().open()
    const empties = ['', null, {}, [], 0, false]
    const task = await runtime.spawn({ thread: 't', run: reader(empties.length + 1) })
    for (const content of empties) await runtime.send(task.id, { from: '', content })
    await runtime.send(task.id, { content: undefined })
    expect(await resultOf(runtime, task.id)).toEqual([
      ...empties.map((content) => expect.objectContaining({ payload: { from: '', content } })),
      expect.objectContaining({ payload: { content: null } }),
    ])
  })

  it('INBX-20 messages accepted for a run survive the death of the process, and each is read once', async () => {
    const here = world()
    const hasRead = gate()
    const agents = {
      reader: async (ctx: AgentContext) => {
        const first = await ctx.receive()
        if (ctx.attempt > 1) return [first, ...(await reader(2)(ctx)), await ctx.receive({ timeoutMs: 0 })]
        hasRead.open()
        return forever()
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'reader', prompt: 'read' })
    for (const content of ['one', 'two', 'three']) {
      expect(await runtime.send(run.id, { content })).toMatchObject({ isSent: true })
    }
    await hasRead.opened
    await here.crash()
    const next = await here.open({ agents })
    const items = (await resultOf(next, run.id)) as ({ payload: { content: string } } | null)[]
    expect(items.map((item) => item?.payload.content)).toEqual(['one', 'two', 'three', undefined])
    const events = await eventsOf(next, 't', run.id)
    expect(events.filter((event) => event.type === 'inbox.accepted')).toHaveLength(3)
  })

  it('a message that is too large or no JSON is refused to its sender, and the task never hears of it', async () => {
    const runtime = await world().open({ limits: { eventBytes: 1000 } })
    const task = await runtime.spawn({ thread: 't', run: reader(1) })
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    await expect(runtime.send(task.id, { content: 'x'.repeat(2000) })).rejects.toMatchObject({ code: 'too_large' })
    await expect(runtime.send(task.id, { content: cycle })).rejects.toMatchObject({ code: 'not_serialisable' })
    await runtime.send(task.id, { content: 'fits' })
    expect(await resultOf(runtime, task.id)).toMatchObject([{ payload: { content: 'fits' } }])
  })
})
