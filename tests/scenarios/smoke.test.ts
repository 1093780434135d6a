import { expect, it } from 'vitest'
import { eventsOf, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a crashed run goes on from its last finished step', async () => {
    const here = world()
    let executed = 0
    const agents = {
      worker: async (ctx: import('../../src/runtime/agent.ts').AgentContext) => {
        await ctx.say('one ')
        await ctx.step('first', () => {
          executed += 1
        })
        await ctx.say('two ')
        if (ctx.attempt === 1) await new Promise(() => {})
        return 'done'
      },
    }
    const runtime = await here.open({ agents })
    const run = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    for await (const event of runtime.subscribe({ thread: 't' })) {
      if (event.type === 'text.delta' && event.data.text === 'two ') break
    }
    await here.crash()
    const next = await here.open({ agents })
    const events = await eventsOf(next, 't', run.id)
    expect(executed).toBe(1)
    expect(events.map((event) => event.type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'text.delta',
      'text.delta',
      'task.resumed',
      'text.delta',
      'message.created',
      'task.completed',
    ])
    const { messages } = await next.thread('t')
    expect(messages.at(-1)?.parts).toEqual([{ type: 'text', text: 'one two ' }])
    expect((await logOf(next, 't')).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})
