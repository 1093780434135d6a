import { expect, it } from 'vitest'
import { createThreadView, reduceView } from '../../src/client/index.ts'
import type { AgentContext } from '../../src/index.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

const image = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AQID' } as const
const search = { type: 'tool', id: 'c1', name: 'search', input: { q: 'x' } } as const

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('what was made elsewhere is shown once, in the message and in the view of a client, over a crash too', async () => {
    const agents = {
      shows: async (ctx: AgentContext) => {
        await ctx.show(search)
        await ctx.show({ ...search, output: 7 })
        await ctx.show(image)
        await ctx.step('one', () => 1)
        await ctx.show({ ...image, name: 'abandoned.png' })
        await ctx.say(`attempt ${ctx.attempt}`)
        if (ctx.attempt === 1) await new Promise<never>(() => {})
      },
    }
    const here = world()
    const first = await here.open({ agents })
    const { id } = await first.run({ thread: 't', agent: 'shows', prompt: 'go' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'text.delta')
    await here.crash()
    const second = await here.open({ agents })
    await second.wait(id)
    const { messages } = await second.thread('t')
    const parts = [
      { ...search, output: 7 },
      image,
      { ...image, name: 'abandoned.png' },
      { type: 'text', text: 'attempt 2' },
    ]
    expect(messages.at(-1)?.parts).toEqual(parts)
    let view = createThreadView()
    let shown: unknown
    for (const event of await logOf(second, 't')) {
      view = reduceView(view, event)
      shown = view.live.get(id) ?? shown
    }
    expect(shown).toEqual(parts)
  })

  it('a step that is given something answers only for that', async () => {
    const agents = (given: unknown) => ({
      careful: async (ctx: AgentContext) => {
        await ctx.step('one', () => 1, { input: given })
        await ctx.step('one', () => 1, { input: 'other' })
        await ctx.say('waiting')
        if (ctx.attempt === 1) await new Promise<never>(() => {})
      },
    })
    const here = world()
    const first = await here.open({ agents: agents({ a: 1 }) })
    const { id } = await first.run({ thread: 't', agent: 'careful', prompt: 'go' })
    await eventsUntil(first, { thread: 't' }, ({ type }) => type === 'text.delta')
    await here.crash()
    const second = await here.open({ agents: agents({ a: 2 }) })
    const task = await second.wait(id)
    expect(task).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } })
    expect(task?.error?.message).toContain('step "one" (step) is recorded with another input than it has now')
  })

  it('a tool whose output JSON cannot hold is shown as failed, as its caller is told', async () => {
    const agents = {
      calls: (ctx: AgentContext) => ctx.tool('odd', {}, () => () => 1).catch((error: Error) => error.message),
    }
    const runtime = await world().open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'calls', prompt: 'go' })
    const error = 'The output of tool odd is a function, which JSON cannot hold'
    expect((await runtime.wait(id))?.result).toBe(error)
    expect((await runtime.thread('t')).messages.at(-1)?.parts).toMatchObject([{ type: 'tool', name: 'odd', error }])
  })
})
