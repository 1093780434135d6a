import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { passTime } from './pass-time.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('RUN-01 normal completion stores the final answer as one assistant message', async () => {
    const runtime = await world().open({
      agents: {
        answering: async (ctx: AgentContext) => {
          await ctx.think('let me see')
          await ctx.answer('first thought')
          await ctx.answer('forty-two')
        },
      },
    })
    const run = await runtime.run({ thread: 't', agent: 'answering', prompt: 'what is it?' })
    await runtime.wait(run.id)
    const [user, assistant, ...others] = await runtime.messages('t')
    expect(others).toEqual([])
    expect(user).toMatchObject({ role: 'user', task: run.id, parts: [{ type: 'text', text: 'what is it?' }] })
    expect(assistant).toMatchObject({
      role: 'assistant',
      finish: 'end_turn',
      task: run.id,
      parts: [
        { type: 'reasoning', text: 'let me see' },
        { type: 'text', text: 'forty-two' },
      ],
    })
  })

  it('RUN-02 an error after partial output stores the partial output', async () => {
    const runtime = await world().open({
      agents: {
        breaking: async (ctx: AgentContext) => {
          await ctx.say('so far ')
          await ctx.say('so good')
          throw new Error('the model is gone')
        },
      },
    })
    const run = await runtime.run({ thread: 't', agent: 'breaking', prompt: 'go' })
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed', partial: true })
    const messages = await runtime.messages('t')
    expect(messages).toHaveLength(2)
    expect(messages[1]).toMatchObject({ finish: 'error', parts: [{ type: 'text', text: 'so far so good' }] })
    const last = (await logOf(runtime, 't')).at(-1)
    expect(last?.data).toEqual({ error: { code: 'agent_error', message: 'the model is gone' }, partial: true })
  })

  it('RUN-03 an error before any output, thinking apart, stores no assistant message', async () => {
    const runtime = await world().open({
      agents: {
        pondering: async (ctx: AgentContext) => {
          await ctx.think('hm')
          await ctx.say('')
          throw new Error('nothing comes to mind')
        },
      },
    })
    const run = await runtime.run({ thread: 't', agent: 'pondering', prompt: 'go' })
    const ended = await runtime.wait(run.id)
    expect(ended?.status).toBe('failed')
    expect(ended).not.toHaveProperty('partial')
    expect((await runtime.messages('t')).map((message) => message.role)).toEqual(['user'])
  })

  it('RUN-04 subscribers see thinking, then the final answer, then task completed', async () => {
    const runtime = await world().open({
      agents: {
        thorough: async (ctx: AgentContext) => {
          await ctx.think('one moment')
          await ctx.answer({ total: 3 })
        },
      },
    })
    const run = await runtime.run({ thread: 't', agent: 'thorough', input: { items: 3 } })
    const events = await eventsOf(runtime, 't', run.id)
    expect(events.map((event) => event.type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'thinking',
      'answer',
      'message.created',
      'task.completed',
    ])
    expect(events.at(-1)?.data).toEqual({ result: { total: 3 } })
    const message = events.at(-2)
    if (message?.type !== 'message.created') throw new Error('The message stands before the end')
    expect(message.data.message.parts.at(-1)).toEqual({ type: 'data', name: 'answer', value: { total: 3 } })
    expect((await runtime.messages('t'))[1]).toEqual(message.data.message)
  })

  it('RUN-05 RUN-07 an error gives one task.failed with its text, and the record says so', async () => {
    const runtime = await world().open({
      agents: {
        failing: () => {
          throw new Error('the disk is full')
        },
      },
    })
    const run = await runtime.run({ thread: 't', agent: 'failing', prompt: 'go' })
    const events = await eventsOf(runtime, 't', run.id)
    const failures = events.filter((event) => event.type === 'task.failed')
    expect(failures.map((event) => event.data)).toEqual([
      { error: { code: 'agent_error', message: 'the disk is full' } },
    ])
    const record = await runtime.get(run.id)
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error', message: 'the disk is full' } })
    expect(record?.completedAt).toBeTypeOf('number')
    expect(record).not.toHaveProperty('progress')
  })

  it('RUN-06 the record says running during the run, and completed with output and progress 1 after it', async () => {
    const here = world()
    const atWork = gate()
    const goOn = gate()
    const runtime = await here.open({
      agents: {
        steady: async (ctx: AgentContext) => {
          await ctx.progress(0.25, 'a quarter')
          await ctx.step('wait', async () => {
            atWork.open()
            await goOn.opened
          })
          return { pages: [1, 2, { three: null }] }
        },
      },
    })
    const { id } = await runtime.run({ thread: 't', agent: 'steady', prompt: 'go' })
    await atWork.opened
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'progress')
    await here.clock.advance(40)
    const during = await runtime.get(id)
    expect(during).toMatchObject({ status: 'running', progress: 0.25, attempt: 1, epoch: 1 })
    expect(during).not.toHaveProperty('completedAt')
    goOn.open()
    const after = await runtime.wait(id)
    expect(after).toMatchObject({ status: 'completed', progress: 1, result: { pages: [1, 2, { three: null }] } })
    expect(after?.completedAt).toBe((during?.startedAt ?? 0) + 40)
    expect(await runtime.get(id)).toEqual(after)
  })

  if (kind === 'memory') {
    it('RUN-08 the runtime works with the memory store alone', async () => {
      const runtime = await world().open({ agents: { echo: (_ctx: AgentContext, text: string) => text } })
      const run = await runtime.run({ thread: 't', agent: 'echo', prompt: 'hello' })
      expect(await runtime.wait(run.id)).toMatchObject({ status: 'completed', result: 'hello' })
    })
  }

  it('RUN-10 the record keeps its thread id, so that a front end can recover', async () => {
    const here = world()
    const agents = { echo: (_ctx: AgentContext, text: string) => text }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 'project:7~a', agent: 'echo', prompt: 'hello' })
    await runtime.wait(id)
    await here.crash()
    const next = await here.open({ agents })
    const found = await next.get(id)
    expect(found?.thread).toBe('project:7~a')
    expect((await next.thread(found?.thread ?? '')).tasks.map((task) => task.id)).toEqual([id])
  })

  it('RUN-15 a run ends well with no client attached at all', async () => {
    const here = world()
    const agents = {
      working: async (ctx: AgentContext) => {
        await ctx.say('first ')
        await ctx.sleep(60_000)
        await ctx.say('second')
        return 'done'
      },
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'working', prompt: 'go' })
    const ended = await passTime(here.clock, runtime.wait(id))
    expect(ended).toMatchObject({ status: 'completed', result: 'done' })
    const { messages, watchers } = await runtime.thread('t')
    expect(watchers).toBe(0)
    expect(messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'first second' }])
  })
})
