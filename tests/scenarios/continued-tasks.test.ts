import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentContext, agent } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { helper, inside, thread, use } from './tool-use.ts'
import { onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
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

  it('a task that is taken up again from inside a tool call inherits its lineage, though no ctx was handed over', async () => {
    const agents = {
      quick: () => 'done',
      lead: (ctx: AgentContext) =>
        ctx.tool('talk', {}, () =>
          use(runtime, 'send_message', { task: 'q', content: 'more' }, { thread, task: ctx.taskId }),
        ),
    }
    const runtime = await world().open({ agents })
    await runtime.wait((await runtime.spawn({ thread, agent: 'quick', name: 'q' })).id)
    const run = await runtime.run({ thread, agent: 'lead', prompt: 'go' })
    const sent = (await runtime.wait(run.id))?.result as { task: string }
    const parent = { task: run.id, run: run.id, call: `${run.id}:talk`, agent: 'lead' }
    expect((await runtime.get(sent.task))?.parent).toEqual(parent)
  })

  it('of a history that retention has removed, what was asked and what came of it is left', async () => {
    const told = (ctx: AgentContext) => ctx.say('much').then(() => 'the end')
    const runtime = await world().open({ agents: { told, helper } })
    const first = await runtime.spawn({ thread, agent: 'told', prompt: 'one' })
    await runtime.wait(first.id)
    await runtime.collect(thread, [first.id])
    await runtime.run({ thread, agent: 'told', prompt: 'later' }).then(({ id }) => runtime.wait(id))
    expect(await runtime.prune({ eventsPerThread: 1 })).toMatchObject({ events: expect.any(Number) })
    const next = await runtime.spawn({ thread, agent: 'helper', prompt: 'two', metadata: { continues: first.id } })
    await runtime.send(next.id, { content: 'go' })
    expect((await runtime.wait(next.id))?.result).toMatchObject({ history: ['user: one', 'assistant: the end'] })
  })

  it('a history tells how each task ended, one that ran out of time too', async () => {
    const agents = {
      slow: (ctx: AgentContext) => ctx.say('So far').then(() => untilStopped(ctx)),
      told: async (ctx: AgentContext) => (await ctx.history()).map(({ role, finish }) => finish ?? role),
    }
    const here = world()
    const runtime = await here.open({ agents })
    const first = await runtime.spawn({ thread, agent: 'slow', prompt: 'go', timeoutMs: 100 })
    await here.quiet()
    await here.clock.advance(100)
    expect(await runtime.wait(first.id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    const next = await runtime.spawn({ thread, agent: 'told', prompt: 'on', metadata: { continues: first.id } })
    expect((await runtime.wait(next.id))?.result).toEqual(['user', 'timeout'])
  })

  it('only an ended task of the same thread is continued, whatever the metadata says', async () => {
    const runtime = await world().open({ agents: { helper, quick: () => 1, idle: untilStopped } })
    const tasks = [
      await runtime.spawn({ thread: 'other', agent: 'quick', prompt: 'secret' }),
      await runtime.as('alice').spawn({ thread, agent: 'quick', prompt: 'secret' }),
      await runtime.run({ thread, agent: 'quick', prompt: 'a run' }),
      await runtime.spawn({ thread, agent: 'idle', prompt: 'live' }),
    ]
    for (const runtimeOf of [runtime, runtime.as('alice')]) {
      for (const { id } of tasks.slice(0, 3)) await runtimeOf.wait(id)
    }
    for (const continues of [...tasks.map(({ id }) => id), 'bg_99', 7, 'bg_10']) {
      const { id } = await runtime.spawn({ thread, agent: 'helper', prompt: 'x', metadata: { continues } })
      await runtime.send(id, { content: 'go' })
      expect((await runtime.wait(id))?.result).toMatchObject({ history: [] })
    }
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
})
