import { expect, it } from 'vitest'
import { type AgentContext, agent, type Part } from '../../src/index.ts'
import { forever } from './bodies.ts'
import { eventsOf, eventsUntil, gate, onEachStore } from './world.ts'

const thread = 't'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('what a generator yields becomes events: strings are said, parts shown, anything else is custom', async () => {
    const file = { type: 'file', mediaType: 'image/png', name: 'map', url: 'https://example.com/map.png' } as const
    const call = { type: 'tool', id: 'c1', name: 'search', input: { q: 'owls' } } as const
    async function* run(): AsyncGenerator<Part | string | object | undefined, { count: number }> {
      yield 'Owls '
      yield { type: 'text', text: 'are birds.' }
      yield { type: 'reasoning', text: 'so they fly' }
      yield call
      yield { ...call, output: ['one'] }
      yield file
      yield { type: 'data', name: 'found', value: { url: 'a' } }
      yield { n: 1 }
      yield { type: 'file', path: 'no part of a message' }
      yield undefined
      return { count: 3 }
    }
    const runtime = await world().open({ agents: { writer: agent(run) } })
    const { id } = await runtime.run({ thread, agent: 'writer', prompt: 'owls' })
    const ended = await runtime.wait(id)
    expect(ended).toMatchObject({ status: 'completed', result: { count: 3 } })
    const events = (await eventsOf(runtime, thread, id)).map(({ type, data }) => ({ type, data }))
    const made = events.filter(({ type }) => !type.startsWith('task.') && type !== 'message.created')
    const { type: _file, ...shown } = file
    expect(made).toEqual([
      { type: 'text.delta', data: { text: 'Owls ' } },
      { type: 'text.delta', data: { text: 'are birds.' } },
      { type: 'thinking', data: { text: 'so they fly' } },
      { type: 'tool.call', data: { id: 'c1', name: 'search', input: { q: 'owls' } } },
      { type: 'tool.result', data: { id: 'c1', output: ['one'] } },
      { type: 'file', data: shown },
      { type: 'custom', data: { name: 'found', payload: { url: 'a' } } },
      { type: 'custom', data: { name: 'yielded', payload: { n: 1 } } },
      { type: 'custom', data: { name: 'yielded', payload: { type: 'file', path: 'no part of a message' } } },
    ])
    expect((await runtime.messages(thread)).at(-1)).toMatchObject({
      role: 'assistant',
      finish: 'end_turn',
      parts: [
        { type: 'text', text: 'Owls are birds.' },
        { type: 'reasoning', text: 'so they fly' },
        { type: 'tool', id: 'c1', output: ['one'] },
        file,
      ],
    })
  })

  it('an async function that gives a generator is one, too', async () => {
    async function* speak() {
      yield 'hello'
      return 1
    }
    const runtime = await world().open({ agents: { late: async () => speak() } })
    const { id } = await runtime.run({ thread, agent: 'late', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 1 })
    expect((await runtime.messages(thread)).at(-1)?.parts).toEqual([{ type: 'text', text: 'hello' }])
  })

  it('a generator that is cancelled is stopped at its next yield, and what it says while it tidies up counts', async () => {
    const goOn = gate()
    async function* run(ctx: AgentContext) {
      try {
        yield 'one '
        await goOn.opened
        yield 'two '
        yield 'three '
      } finally {
        await ctx.say('(left)')
      }
    }
    const runtime = await world().open({ agents: { writer: agent(run) } })
    const { id } = await runtime.run({ thread, agent: 'writer', prompt: 'go' })
    await eventsUntil(runtime, { thread }, (event) => event.type === 'text.delta')
    await runtime.cancel(id)
    goOn.open()
    const ended = await runtime.wait(id)
    expect(ended).toMatchObject({ status: 'cancelled', partial: true })
    const last = (await eventsOf(runtime, thread, id)).at(-1)
    expect(last?.data).not.toHaveProperty('forced')
    expect((await runtime.messages(thread)).at(-1)).toMatchObject({
      finish: 'cancelled',
      parts: [{ type: 'text', text: 'one two (left)' }],
    })
  })

  it('a yield that is refused ends the task, and the generator may tidy up', async () => {
    const tidied = gate()
    async function* run() {
      try {
        yield { count: 1n }
      } finally {
        tidied.open()
      }
    }
    const runtime = await world().open({ agents: { run } })
    const { id } = await runtime.spawn({ thread, agent: 'run' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'not_serialisable' } })
    await tidied.opened
  })

  it('what was yielded before a crash is not yielded again, if a step was recorded after it', async () => {
    const here = world()
    const recorded = gate()
    const agents = {
      writer: agent(async function* (ctx) {
        yield 'one '
        await ctx.step('think', () => 1)
        if (ctx.attempt === 1) {
          recorded.open()
          await forever()
        }
        yield 'two'
      }),
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread, agent: 'writer', prompt: 'go' })
    await recorded.opened
    await here.crash()
    const next = await here.open({ agents })
    await next.wait(id)
    const said = (await eventsOf(next, thread, id)).filter(({ type }) => type === 'text.delta')
    expect(said.map(({ data }) => data)).toEqual([{ text: 'one ' }, { text: 'two' }])
  })
})
