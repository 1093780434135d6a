import { expect, it } from 'vitest'
import { z } from 'zod'
import {
  type AgentContext,
  agent,
  backgroundTasks,
  type Message,
  type Runtime,
  type ToolPlace,
} from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

const thread = 't'

type ToolName = 'spawn_task' | 'list_tasks' | 'wait_task' | 'cancel_task' | 'send_message'

function use(runtime: Runtime, name: ToolName, input: unknown, place: ToolPlace = { thread }) {
  const tool = backgroundTasks(runtime).tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`There is no tool ${name}`)
  return tool.execute(input, place) as Promise<Record<string, unknown>>
}

/** Where a task calls tools. */
function inside(ctx: AgentContext): ToolPlace {
  return { thread: ctx.thread, task: ctx.taskId, ctx }
}

function textsOf(messages: readonly Message[]): string[] {
  return messages.map(({ role, parts }) => {
    const texts = parts.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part)))
    return `${role}: ${texts.join('')}`
  })
}

/** Says what it was asked, waits for one message and says that as well. */
async function helper(ctx: AgentContext, asked: string) {
  await ctx.say(`I was asked ${asked}. `)
  const item = await ctx.receive({ only: 'messages' })
  const content = item?.kind === 'custom' ? (item.payload as { content: string }).content : 'nothing'
  await ctx.say(`I was told ${content}.`)
  return { told: content, history: textsOf(await ctx.history()) }
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-11 cancel_task takes a task itself, what it spawned, and for a run any background task of its thread', async () => {
    const found = gate<object[]>()
    const agents = {
      idle: untilStopped,
      child: async (ctx: AgentContext) => {
        await ctx.spawn({ agent: 'idle', name: 'grandchild' })
        const cancel = (task: string) => use(runtime, 'cancel_task', { task }, inside(ctx))
        const answers = []
        for (const task of ['parent', 'sibling', 'grandchild']) answers.push(await cancel(task))
        found.open(answers)
        await cancel('self')
        await untilStopped(ctx)
      },
      lead: async (ctx: AgentContext) => {
        await ctx.spawn({ agent: 'idle', name: 'sibling' })
        await ctx.spawn({ agent: 'child', name: 'child' })
        return ctx.wait('bg_3')
      },
      next: (ctx: AgentContext) => use(runtime, 'cancel_task', { task: 'left' }, inside(ctx)),
    }
    const runtime = await world().open({ agents })
    const left = await runtime.spawn({ thread, agent: 'idle', name: 'left' })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    expect(await found.opened).toEqual([
      { task: run.id, cancelled: 0, reason: 'not_yours' },
      { task: 'bg_2', cancelled: 0, reason: 'not_yours' },
      { task: 'bg_4', cancelled: 1 },
    ])
    expect((await runtime.wait(run.id))?.result).toMatchObject({ task: 'bg_3', status: 'cancelled' })
    const next = await runtime.run({ thread, agent: 'next', prompt: 'stop that' })
    expect((await runtime.wait(next.id))?.result).toEqual({ task: left.id, cancelled: 1 })
  })

  it('REST-11 send_message reaches child, sibling and parent by name, and nobody of another thread', async () => {
    const agents = {
      sender: async (ctx: AgentContext) => {
        const send = (task: string) => use(runtime, 'send_message', { task, content: `for ${task}` }, inside(ctx))
        return [await send('parent'), await send('reader'), await send('elsewhere'), await send('nobody')]
      },
      reader: (ctx: AgentContext) => ctx.receive({ only: 'messages' }),
      shell: untilStopped,
      lead: async (ctx: AgentContext) => {
        await ctx.spawn({ agent: 'reader', name: 'reader' })
        await ctx.spawn({ agent: 'shell', name: 'shell', type: 'shell' })
        const sender = await ctx.spawn({ agent: 'sender', name: 'sender' })
        const refused = await use(runtime, 'send_message', { task: 'shell', content: 'ls' }, inside(ctx))
        return { answers: await ctx.wait(sender.id), own: await ctx.receive({ only: 'messages' }), refused }
      },
    }
    const runtime = await world().open({ agents })
    await runtime.spawn({ thread: 'other', agent: 'reader', name: 'elsewhere' })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    const ended = (await runtime.wait(run.id))?.result as { answers: { answer: unknown } }
    expect(ended.answers.answer).toEqual([
      { task: run.id, isSent: true, id: expect.any(String) },
      { task: 'bg_2', isSent: true, id: expect.any(String) },
      { task: 'elsewhere', isSent: false, reason: 'not_found' },
      { task: 'nobody', isSent: false, reason: 'not_found' },
    ])
    expect(ended).toMatchObject({
      own: { payload: { from: 'bg_4', content: 'for parent' } },
      refused: { task: 'bg_3', isSent: false, reason: 'no_inbox' },
    })
    expect((await runtime.get('bg_2'))?.result).toMatchObject({ payload: { from: 'bg_4', content: 'for reader' } })
  })

  it('a message to a sub-agent that has ended is taken up by a new task of its agent and name, with its history', async () => {
    const agents = {
      helper,
      lead: async (ctx: AgentContext, task: string) =>
        use(runtime, 'send_message', { task, content: 'and now?' }, inside(ctx)),
    }
    const runtime = await world().open({ agents })
    const metadata = { ticket: 7 }
    const first = await runtime.spawn({
      thread,
      agent: 'helper',
      prompt: 'one',
      name: 'h',
      description: 'helps',
      metadata,
    })
    await runtime.send(first.id, { content: 'a' })
    const before = await runtime.wait(first.id)
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'h' })
    const sent = (await runtime.wait(run.id))?.result as { task: string }
    expect(sent).toEqual({ task: 'bg_2', name: 'h', isSent: true, continues: first.id })
    expect(await runtime.get(sent.task)).toMatchObject({
      agent: 'helper',
      name: 'h',
      description: 'helps',
      input: 'and now?',
      detached: true,
      parent: { task: run.id },
      metadata: { ticket: 7, continues: first.id },
    })
    expect(await runtime.get(first.id)).toEqual(before)
    expect(await use(runtime, 'send_message', { task: 'h', content: 'b' })).toMatchObject({
      task: 'bg_2',
      isSent: true,
    })
    const history = ['user: one', 'assistant: I was asked one. ', 'user: a', 'assistant: I was told a.']
    expect((await runtime.wait('bg_2'))?.result).toEqual({ told: 'b', history })

    const again = await use(runtime, 'send_message', { task: 'h', content: 'more' })
    expect(again).toMatchObject({ continues: 'bg_2' })
    await runtime.send(String(again['task']), { content: 'c' })
    expect((await runtime.wait(String(again['task'])))?.result).toMatchObject({
      history: [
        ...history,
        'user: and now?',
        'assistant: I was asked and now?. ',
        'user: b',
        'assistant: I was told b.',
      ],
    })
  })

  it('a message to what cannot be taken up again is refused with the reason', async () => {
    const agents = {
      typed: agent({ input: z.object({ n: z.number() }), run: (_ctx, { n }) => n }),
      quick: () => 'done',
      orphan: async (ctx: AgentContext) => {
        await ctx.receive()
        return use(runtime, 'send_message', { task: 'parent', content: 'are you there?' }, inside(ctx))
      },
      lead: (ctx: AgentContext) => ctx.spawn({ agent: 'orphan', name: 'orphan', detached: true }).then(() => 'left'),
    }
    const runtime = await world().open({ agents })
    const send = (task: string) => use(runtime, 'send_message', { task, content: 'go on' })
    const typed = await runtime.spawn({ thread, agent: 'typed', input: { n: 1 } })
    await runtime.wait(typed.id)
    expect(await send(typed.id)).toMatchObject({ task: typed.id, isSent: false, reason: 'invalid_input' })
    const run = await runtime.run({ thread, agent: 'quick', prompt: 'x' })
    await runtime.wait(run.id)
    expect(await send(run.id)).toEqual({
      task: run.id,
      isSent: false,
      reason: 'task_terminated',
      taskStatus: 'completed',
    })
    const old = await runtime.spawn({ thread, agent: 'quick', name: 'q' })
    await runtime.wait(old.id)
    const holder = await runtime.spawn({ thread, agent: 'orphan', name: 'q' })
    expect(await send(old.id)).toMatchObject({
      isSent: false,
      reason: 'name_taken',
      detail: expect.stringContaining(holder.id),
    })
    const lead = await runtime.spawn({ thread, agent: 'lead' })
    await runtime.wait(lead.id)
    await send('orphan')
    const [orphan] = (await runtime.list({ thread, name: 'orphan' })).tasks
    expect((await runtime.wait(orphan?.id ?? ''))?.result).toMatchObject({ isSent: false, reason: 'task_terminated' })
  })

  it('what the tools did before a crash is not done again', async () => {
    const here = world()
    const done = gate()
    const answers: unknown[] = []
    const agents = {
      reader: async (ctx: AgentContext) => {
        const read = [await ctx.receive(), await ctx.receive()]
        return read.map((item) => item?.kind === 'custom' && (item.payload as { content: unknown }).content)
      },
      quick: () => 'done',
      lead: async (ctx: AgentContext) => {
        const place = inside(ctx)
        answers.push([
          await use(runtime, 'spawn_task', { agent: 'reader', prompt: 'x', name: 'r' }, place),
          await use(runtime, 'send_message', { task: 'r', content: 'once' }, place),
          await use(runtime, 'send_message', { task: 'q', content: 'again' }, place),
          await use(runtime, 'wait_task', { task: 'q' }, place),
          await use(runtime, 'list_tasks', {}, place),
        ])
        if (ctx.attempt === 1) {
          done.open()
          await forever()
        }
        return use(runtime, 'send_message', { task: 'r', content: 'twice' }, place)
      },
    }
    let runtime = await here.open({ agents })
    await runtime.wait((await runtime.spawn({ thread, agent: 'quick', name: 'q' })).id)
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    await done.opened
    await here.crash()
    runtime = await here.open({ agents })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: { isSent: true } })
    expect(answers[1]).toEqual(answers[0])
    expect((await runtime.wait('bg_2'))?.result).toEqual(['once', 'twice'])
    expect((await runtime.list({ thread })).tasks.map(({ id }) => id)).toEqual(['bg_3', 'bg_2', 'bg_1', 'bg_0'])
    const sent = (await eventsOf(runtime, thread, 'bg_2')).filter(({ type }) => type === 'inbox.accepted')
    expect(sent).toHaveLength(2)
  })

  it('what a run has waited for with wait_task wakes nobody, and what it has not does', async () => {
    const here = world()
    const release = gate()
    const agents = {
      quick: () => 'quick',
      slow: () => release.opened.then(() => 'slow'),
      lead: async (ctx: AgentContext, asked: unknown) => {
        if (ctx.asked === 'wake') return asked
        for (const name of ['quick', 'slow'])
          await use(runtime, 'spawn_task', { agent: name, input: 1, name }, inside(ctx))
        return use(runtime, 'wait_task', { task: 'quick' }, inside(ctx))
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go', onResult: 'wake' })
    expect((await runtime.wait(run.id))?.result).toMatchObject({ task: 'bg_1', answer: 'quick' })
    release.open()
    const wake = (await runtime.wait('bg_2')) && (await runtime.wait('bg_3'))
    expect(wake).toMatchObject({ result: [{ task: 'bg_2', answer: 'slow' }], metadata: { wakes: ['bg_2'] } })
    await here.quiet()
    expect((await runtime.results(thread)).results).toEqual([])
  })

  it('a later run that waits for what an earlier one left takes its result', async () => {
    const release = gate()
    const agents = {
      slow: () => release.opened.then(() => 'slow'),
      lead: (ctx: AgentContext) => use(runtime, 'spawn_task', { agent: 'slow', input: 1, name: 'slow' }, inside(ctx)),
      next: (ctx: AgentContext) => use(runtime, 'wait_task', { task: 'slow' }, inside(ctx)),
    }
    const runtime = await world().open({ agents })
    await runtime.wait((await runtime.run({ thread, agent: 'lead', prompt: 'go' })).id)
    release.open()
    await runtime.wait('bg_1')
    expect((await runtime.results(thread)).results).toMatchObject([{ task: 'bg_1' }])
    const next = await runtime.run({ thread, agent: 'next', prompt: 'well?' })
    expect((await runtime.wait(next.id))?.result).toMatchObject({ task: 'bg_1', answer: 'slow' })
    expect((await runtime.results(thread)).results).toEqual([])
  })

  it('a task that waits for itself is told so, and an agent that is not there is answered with those that are', async () => {
    const agents = {
      lead: (ctx: AgentContext) => use(runtime, 'wait_task', { task: 'self' }, inside(ctx)),
      other: () => 1,
    }
    const runtime = await world().open({ agents })
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    expect((await runtime.wait(run.id))?.result).toEqual({ task: run.id, reason: 'self' })
    await expect(use(runtime, 'spawn_task', { agent: 'helpr', prompt: 'x' })).rejects.toMatchObject({
      code: 'unknown_agent',
      message: expect.stringContaining('There are: lead, other'),
    })
    expect(await logOf(runtime, thread)).toHaveLength(4)
  })
})
