import { expect, it } from 'vitest'
import { type AgentContext, cancelled, type Message, type Part, type Runtime } from '../../src/index.ts'
import { passTime } from './pass-time.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore, type World } from './world.ts'

type Work = (ctx: AgentContext) => unknown

/** Runs one agent to its end and gives its assistant message, if there is one. */
async function saidBy(runtime: Runtime, agent: string): Promise<Message | undefined> {
  const { id } = await runtime.run({ thread: 't', agent, prompt: 'go' })
  await runtime.wait(id)
  return (await runtime.messages('t')).find((message) => message.role === 'assistant' && message.task === id)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a user message is the prompt, the parts, or the input as a data part', async () => {
    const runtime = await world().open({ agents: { quiet: () => 'done' } })
    const parts: Part[] = [
      { type: 'text', text: 'read this' },
      { type: 'file', mediaType: 'text/plain', name: 'a.txt', url: 'https://example.org/a.txt' },
    ]
    await runtime.run({ thread: 't', agent: 'quiet', prompt: '' })
    await runtime.run({ thread: 't', agent: 'quiet', parts })
    const last = await runtime.run({ thread: 't', agent: 'quiet', input: [null, { a: 1 }] })
    await runtime.wait(last.id)
    const messages = await runtime.messages('t')
    expect(messages.map((message) => message.role)).toEqual(['user', 'user', 'user'])
    expect(messages.map((message) => message.parts)).toEqual([
      [{ type: 'text', text: '' }],
      parts,
      [{ type: 'data', name: 'input', value: [null, { a: 1 }] }],
    ])
    expect(messages.every((message) => message.finish === undefined)).toBe(true)
  })

  it.for([
    ['both a prompt and an input', { prompt: 'a', input: 1 }],
    ['nothing to work on', {}],
  ] as const)('a run that is given %s is refused', async ([, ask]) => {
    const runtime = await world().open({ agents: { quiet: () => 'done' } })
    const running = runtime.run({ thread: 't', agent: 'quiet', ...ask })
    await expect(running).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await runtime.thread('t')).head).toBe(0)
  })

  it('an assistant message joins deltas and keeps reasoning and tools in their order', async () => {
    const agents = {
      busy: async (ctx: AgentContext) => {
        await ctx.think('hm')
        await ctx.think('m')
        await ctx.say('Look')
        await ctx.say('ing ')
        await ctx.tool('search', { q: 'x' }, () => ['hit'])
        await ctx.tool('fetch', { page: 2 }, () => Promise.reject(new Error('404'))).catch(() => undefined)
        await ctx.emit('note', { is: 'no part' })
        await ctx.say('found')
      },
    }
    const message = await saidBy(await world().open({ agents }), 'busy')
    expect(message?.finish).toBe('end_turn')
    expect(message?.parts).toEqual([
      { type: 'reasoning', text: 'hmm' },
      { type: 'text', text: 'Looking ' },
      { type: 'tool', id: expect.any(String), name: 'search', input: { q: 'x' }, output: ['hit'] },
      { type: 'tool', id: expect.any(String), name: 'fetch', input: { page: 2 }, error: '404' },
      { type: 'text', text: 'found' },
    ])
  })

  it.for<[string, Work, readonly Part[] | undefined, unknown]>([
    ['text if nothing was said', (ctx) => ctx.answer('a'), [{ type: 'text', text: 'a' }], 'a'],
    [
      'data if something was said',
      async (ctx) => {
        await ctx.say('well: ')
        await ctx.answer('a')
      },
      [
        { type: 'text', text: 'well: ' },
        { type: 'data', name: 'answer', value: 'a' },
      ],
      'a',
    ],
    ['data if it is no string', (ctx) => ctx.answer(null), [{ type: 'data', name: 'answer', value: null }], null],
    [
      'the last one given, beside another result',
      async (ctx) => {
        await ctx.answer('a')
        await ctx.answer('b')
        return 'returned'
      },
      [{ type: 'text', text: 'b' }],
      'returned',
    ],
    ['none if the agent only returns', () => 'returned', undefined, 'returned'],
  ])('an answer is %s', async ([, work, parts, result]) => {
    const runtime = await world().open({ agents: { work } })
    const message = await saidBy(runtime, 'work')
    expect(message?.parts).toEqual(parts)
    expect((await runtime.list()).tasks[0]?.result).toEqual(result)
  })

  it('a finish says how the run ended: end_turn, error, cancelled or timeout', async () => {
    const here = world()
    const runtime = await here.open({ agents: endings })
    const finishes: Record<string, unknown> = {}
    for (const agent of Object.keys(endings)) {
      const { id } = await runtime.run({ thread: 't', agent, prompt: 'go', timeoutMs: 5_000 })
      const ended = await passTime(here.clock, runtime.wait(id))
      const message = (await runtime.messages('t')).at(-1)
      finishes[agent] = [ended?.status, ended?.error?.code, ended?.partial, message?.finish]
    }
    expect(finishes).toEqual({
      completing: ['completed', undefined, undefined, 'end_turn'],
      throwing: ['failed', 'agent_error', true, 'error'],
      leaving: ['cancelled', 'cancelled', true, 'cancelled'],
      hanging: ['failed', 'timeout', true, 'timeout'],
    })
  })

  it('a run cancelled in silence leaves an empty assistant message and is not partial', async () => {
    const runtime = await world().open({ agents: { silent: () => cancelled() } })
    const message = await saidBy(runtime, 'silent')
    expect(message).toMatchObject({ finish: 'cancelled', parts: [] })
    const [task] = (await runtime.list()).tasks
    expect(task?.error?.message).toContain('cancelled')
    expect(task).not.toHaveProperty('partial')
  })

  it('only runs write the conversation', async () => {
    const runtime = await world().open({
      agents: {
        talking: async (ctx: AgentContext) => {
          await ctx.say('hello')
          await ctx.answer('hello')
        },
      },
    })
    const task = await runtime.spawn({ thread: 't', agent: 'talking', prompt: 'go' })
    const events = await eventsOf(runtime, 't', task.id)
    expect(events.map((event) => event.type)).not.toContain('message.created')
    expect(await runtime.messages('t')).toEqual([])
  })

  it('a call that is open at the end is closed with an error, in the log and in the message', async () => {
    const here = world()
    const { runtime, id } = await withOpenCall(here)
    await runtime.cancel(id)
    await runtime.wait(id)
    const closing = (await logOf(runtime, 't')).slice(-4)
    expect(closing.map((event) => event.type)).toEqual([
      'task.cancelling',
      'tool.result',
      'message.created',
      'task.cancelled',
    ])
    const [, result] = closing
    const error = result?.type === 'tool.result' ? result.data.error : undefined
    expect(error).toContain('cancelled')
    const message = (await runtime.messages('t')).at(-1)
    expect(message?.parts).toEqual([
      { type: 'text', text: 'calling' },
      { type: 'tool', id: expect.any(String), name: 'slow', input: { n: 1 }, error },
    ])
    expect((await runtime.get(id))?.partial).toBe(true)
  })

  it('a call that is open when the process dies is closed when the run cannot go on', async () => {
    const here = world()
    const { id } = await withOpenCall(here, { isResumable: false })
    await here.crash()
    const next = await here.open({ agents: { calling: { run: () => 'again', isResumable: false } } })
    const ended = await next.wait(id)
    expect(ended).toMatchObject({ status: 'failed', partial: true, error: { code: 'orphaned' } })
    const message = (await next.messages('t')).at(-1)
    expect(message).toMatchObject({ finish: 'error' })
    expect(message?.parts[1]).toMatchObject({ type: 'tool', name: 'slow', error: expect.any(String) })
  })
})

const endings = {
  completing: async (ctx: AgentContext) => {
    await ctx.say('all')
  },
  throwing: async (ctx: AgentContext) => {
    await ctx.say('some')
    throw new Error('no more')
  },
  leaving: async (ctx: AgentContext) => {
    await ctx.say('some')
    return cancelled('not needed any more')
  },
  hanging: async (ctx: AgentContext) => {
    await ctx.say('some')
    await ctx.sleep(60_000)
  },
}

async function withOpenCall(here: World, { isResumable = true } = {}): Promise<{ runtime: Runtime; id: string }> {
  const never = gate()
  const run = async (ctx: AgentContext) => {
    await ctx.say('calling')
    const stopped = new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
    })
    await Promise.race([ctx.tool('slow', { n: 1 }, () => never.opened), stopped])
  }
  const runtime = await here.open({ agents: { calling: { run, isResumable } } })
  const { id } = await runtime.run({ thread: 't', agent: 'calling', prompt: 'go' })
  await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'tool.call')
  return { runtime, id }
}
