import { expect, it } from 'vitest'
import type { AgentContext, Message, Runtime } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

/** What was said, with the task it belongs to: `user bg_0 go`. */
async function said(runtime: Runtime): Promise<string[]> {
  const text = (message: Message) =>
    message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join('')
  return (await runtime.messages(thread)).map((message) => `${message.role} ${message.task} ${text(message)}`)
}

/** Waits until no run of the thread is live, and gives the ids of all runs in the order of their starts. */
async function startsOf(runtime: Runtime): Promise<(string | undefined)[]> {
  for (;;) {
    const { tasks } = await runtime.list({ thread, status: ['pending', 'running'] })
    if (tasks.length === 0) break
    for (const task of tasks) await runtime.wait(task.id)
  }
  return (await logOf(runtime, thread)).filter((event) => event.type === 'task.started').map((event) => event.task)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('INBX-20 steering that a run never read becomes a run, with its agent, in its place of acceptance', async () => {
    const finish = gate()
    const agents = {
      deaf: async (ctx: AgentContext) => {
        if (ctx.taskId === 'bg_0') await finish.opened
        await ctx.say(`deaf ${ctx.taskId}`)
      },
      other: (ctx: AgentContext) => ctx.say(`other ${ctx.taskId}`),
    }
    const runtime = await world().open({ agents })
    const first = await runtime.run({ thread, agent: 'deaf', prompt: 'one' })
    const before = await runtime.run({ thread, agent: 'other', prompt: 'two', onBusy: 'steer' })
    const queued = await runtime.run({ thread, agent: 'deaf', prompt: 'three' })
    const after = await runtime.run({ thread, agent: 'deaf', prompt: 'four', onBusy: 'steer' })
    expect([before.id, after.id]).toEqual([first.id, first.id])
    expect(before.steered).toMatch(/^msg_/)
    finish.open()
    expect(await startsOf(runtime)).toEqual(['bg_0', 'bg_2', 'bg_1', 'bg_3'])
    expect(await said(runtime)).toEqual([
      'user bg_0 one',
      'assistant bg_0 deaf bg_0',
      'user bg_2 two',
      'assistant bg_2 other bg_2',
      `user ${queued.id} three`,
      `assistant ${queued.id} deaf ${queued.id}`,
      'user bg_3 four',
      'assistant bg_3 deaf bg_3',
    ])
    const accepted = (await logOf(runtime, thread)).filter((event) => event.type === 'task.accepted')
    expect(accepted.map((event) => event.data.steered)).toEqual([undefined, undefined, before.steered, after.steered])
  })

  it('INBX-20 the run that unread steering becomes is accepted in the commit that ends the other', async () => {
    const finish = gate()
    const here = world()
    const runtime = await here.open({ agents: { deaf: () => finish.opened } })
    const run = await runtime.run({ thread, agent: 'deaf', prompt: 'one' })
    await runtime.run({ thread, agent: 'deaf', prompt: 'two', onBusy: 'steer' })
    finish.open()
    await runtime.wait(run.id)
    const unit = here.committed.find(({ operation }) => operation === 'end')
    expect(unit?.events.map((event) => event.type)).toEqual(['task.completed', 'task.accepted'])
    await startsOf(runtime)
  })

  it('INBX-20 steering that is read enters the conversation once, as a user message, and becomes no run', async () => {
    const runtime = await world().open({ agents: { attentive } })
    const run = await runtime.run({ thread, agent: 'attentive', prompt: 'go' })
    await runtime.run({ thread, agent: 'attentive', prompt: 'left', onBusy: 'steer' })
    const parts = [{ type: 'text', text: 'ri' } as const, { type: 'text', text: 'ght' } as const]
    const second = await runtime.run({ thread, agent: 'attentive', parts, onBusy: 'steer' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: ['left', parts] })
    expect(await said(runtime)).toEqual(['user bg_0 go', 'user bg_0 left', 'user bg_0 right', 'assistant bg_0 turning'])
    const created = (await eventsOf(runtime, thread, run.id)).filter((event) => event.type === 'message.created')
    expect(created.map((event) => event.data.message.id)[2]).toBe(second.steered)
    expect((await runtime.list({ thread })).tasks).toHaveLength(1)
  })

  it('INBX-20 the log says which messages to a run are steering', async () => {
    const finish = gate()
    const runtime = await world().open({ agents: { deaf: () => finish.opened } })
    const run = await runtime.run({ thread, agent: 'deaf', prompt: 'go' })
    await runtime.run({ thread, agent: 'deaf', prompt: 'left', onBusy: 'steer' })
    await runtime.send(run.id, { content: 'by the way' })
    const mail = (await logOf(runtime, thread)).filter((event) => event.type === 'inbox.accepted')
    expect(mail.map(({ data }) => [data.content, data.steer])).toEqual([
      ['left', true],
      ['by the way', undefined],
    ])
    finish.open()
    await startsOf(runtime)
  })

  it('INBX-20 steering that was read before a crash is in the conversation once after it', async () => {
    const here = world()
    const hasRead = gate()
    const agents = {
      attentive: async (ctx: AgentContext) => {
        const first = await ctx.receive()
        if (ctx.attempt === 1) {
          hasRead.open()
          return forever()
        }
        const second = await ctx.receive()
        return [first, second].map((item) => item?.kind === 'custom' && item.payload)
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread, agent: 'attentive', prompt: 'go' })
    await runtime.run({ thread, agent: 'attentive', prompt: 'left', onBusy: 'steer' })
    await hasRead.opened
    await runtime.run({ thread, agent: 'attentive', prompt: 'right', onBusy: 'steer' })
    await here.crash()
    const next = await here.open({ agents })
    expect((await next.wait(run.id))?.result).toEqual([{ content: 'left' }, { content: 'right' }])
    expect(await said(next)).toEqual(['user bg_0 go', 'user bg_0 left', 'user bg_0 right'])
    expect((await next.list({ thread })).tasks).toHaveLength(1)
  })

  it('INBX-20 steering that was accepted before a crash becomes the next run if the resumed run leaves it unread', async () => {
    const here = world()
    const agents = { deaf: (ctx: AgentContext) => (ctx.taskId === 'bg_0' && ctx.attempt === 1 ? forever() : 'done') }
    const runtime = await here.open({ agents })
    await runtime.run({ thread, agent: 'deaf', prompt: 'one' })
    const { steered } = await runtime.run({ thread, agent: 'deaf', prompt: 'two', onBusy: 'steer' })
    const queued = await runtime.run({ thread, agent: 'deaf', prompt: 'three' })
    await here.crash()
    const next = await here.open({ agents })
    expect(await startsOf(next)).toEqual(['bg_0', 'bg_2', queued.id])
    expect(await said(next)).toEqual(['user bg_0 one', 'user bg_2 two', `user ${queued.id} three`])
    const accepted = (await eventsOf(next, thread, 'bg_2'))[0]
    expect(accepted?.data).toMatchObject({ steered, task: { status: 'pending', input: 'two' } })
  })

  it('INBX-20 steering outlives a run that cannot be resumed', async () => {
    const here = world()
    const run = (ctx: AgentContext) => (ctx.taskId === 'bg_0' ? forever() : 'done')
    const agents = { once: { run, isResumable: false } }
    const runtime = await here.open({ agents })
    await runtime.run({ thread, agent: 'once', prompt: 'one' })
    await runtime.run({ thread, agent: 'once', prompt: 'two', onBusy: 'steer' })
    await here.crash()
    const next = await here.open({ agents })
    expect(await next.wait('bg_0')).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
    expect(await startsOf(next)).toEqual(['bg_0', 'bg_1'])
    expect(await next.get('bg_1')).toMatchObject({ status: 'completed', input: 'two', type: 'run' })
  })

  it('INBX-20 a cancel of the thread accepts unread steering and cancels it, in its own commit', async () => {
    const here = world()
    const runtime = await here.open({ agents: { deaf: untilStopped } })
    const run = await runtime.run({ thread, agent: 'deaf', prompt: 'one' })
    const { steered } = await runtime.run({ thread, agent: 'deaf', prompt: 'two', onBusy: 'steer' })
    expect(await runtime.cancelThread(thread)).toEqual([run.id, 'bg_1'])
    expect(await runtime.wait('bg_1')).toMatchObject({ status: 'cancelled', attempt: 0 })
    await runtime.wait(run.id)
    const unit = here.committed.find(({ operation }) => operation === 'cancel')
    expect(unit?.events.map((event) => event.type)).toEqual([
      'task.cancelling',
      'task.accepted',
      'message.created',
      'message.created',
      'task.cancelled',
    ])
    expect((await eventsOf(runtime, thread, 'bg_1'))[0]?.data).toMatchObject({ steered })
    expect((await runtime.list({ thread })).tasks).toHaveLength(2)
  })

  it('INBX-20 a cancel of the thread takes unread steering in its place among the queued runs', async () => {
    const here = world()
    const runtime = await here.open({ agents: { deaf: untilStopped } })
    const ask = (prompt: string, onBusy: 'queue' | 'steer') => runtime.run({ thread, agent: 'deaf', prompt, onBusy })
    const one = await ask('one', 'queue')
    await ask('two', 'steer')
    const three = await ask('three', 'queue')
    await ask('four', 'steer')
    const five = await ask('five', 'queue')
    const [first, second, third, fourth, ...rest] = await runtime.cancelThread(thread)
    expect([first, third, rest]).toEqual([one.id, three.id, [five.id]])
    await runtime.wait(one.id)
    const asked = (await said(runtime)).filter((line) => line.startsWith('user'))
    expect(asked).toEqual([
      `user ${one.id} one`,
      `user ${second} two`,
      `user ${three.id} three`,
      `user ${fourth} four`,
      `user ${five.id} five`,
    ])
  })

  it('steering takes a prompt or parts, and nothing is accepted for anything else', async () => {
    const runtime = await world().open({ agents: { attentive } })
    const steering = { thread, agent: 'attentive', input: 1, onBusy: 'steer' } as const
    await expect(runtime.run(steering)).rejects.toMatchObject({ code: 'invalid_input' })
    expect((await runtime.list()).tasks).toEqual([])
  })
})

async function attentive(ctx: AgentContext): Promise<unknown> {
  const read: unknown[] = []
  while (read.length < 2) {
    const item = await ctx.receive()
    if (item?.kind === 'custom') read.push((item.payload as { content: unknown }).content)
  }
  await ctx.say('turning')
  return read
}
