import { expect, it } from 'vitest'
import { type AgentContext, backgroundTasks, scriptAgent } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { inside, thread, use } from './tool-use.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

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

  it('agents that are not for models, or not among those named, are neither spawned nor taken up again', async () => {
    const runtime = await world().open({ agents: { script: scriptAgent(), quick: () => 1, other: () => 2 } })
    const refused = { code: 'unknown_agent' }
    await expect(use(runtime, 'spawn_task', { agent: 'script', input: { script: [] } })).rejects.toMatchObject(refused)
    const [spawn, , , , send] = backgroundTasks(runtime, { agents: ['quick'] }).tools
    expect(spawn?.inputSchema).toMatchObject({ properties: { agent: { enum: ['quick'] } } })
    await expect(spawn?.execute({ agent: 'other', prompt: 'x' }, { thread })).rejects.toMatchObject(refused)
    expect((await runtime.list({ thread })).tasks).toEqual([])
    for (const agent of ['script', 'other']) {
      const { id } = await runtime.spawn({ thread, agent, prompt: 'x' })
      await runtime.wait(id)
      expect(await send?.execute({ task: id, content: 'x' }, { thread })).toMatchObject({ reason: 'task_terminated' })
    }
    expect(await spawn?.execute({ agent: 'quick', prompt: 'x' }, { thread })).toEqual({ task: 'bg_2' })
  })
})
