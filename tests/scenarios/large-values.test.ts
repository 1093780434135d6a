import { expect, it } from 'vitest'
import { type AgentContext, failed, isHoldfastError } from '../../src/index.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

const eventBytes = 256 * 1024

// Each of its characters takes two bytes, so counting characters would let it pass.
const large = 'é'.repeat(eventBytes / 2 + 1)

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('input, result and parts over the limit are left out of events and whole in task and message', async () => {
    const runtime = await world().open({ agents: { echo } })
    const { id } = await runtime.run({ thread: 't', agent: 'echo', input: { large } })
    const [accepted, , asked, , , said, completed] = await eventsOf(runtime, 't', id)
    expect(accepted?.data).toMatchObject({ inputOmitted: true, task: { id, status: 'pending' } })
    expect(accepted?.type === 'task.accepted' && accepted.data.task).not.toHaveProperty('input')
    expect(asked?.data).toMatchObject({ partsOmitted: true, message: { role: 'user' } })
    expect(said?.data).toMatchObject({ partsOmitted: true, message: { role: 'assistant', finish: 'end_turn' } })
    expect(completed?.data).toEqual({ resultOmitted: true })
    const task = await runtime.get(id)
    expect(task).toMatchObject({ input: { large }, result: { large } })
    const [user, assistant] = await runtime.messages('t')
    expect(user?.parts).toEqual([{ type: 'data', name: 'input', value: { large } }])
    expect(assistant?.parts).toEqual([{ type: 'text', text: large }])
    expect(assistant?.seq).toBe(said?.seq)
  })

  it('a value of exactly the limit stays in its event, and one byte more is left out', async () => {
    const runtime = await world().open({ agents: { sized: (_ctx: AgentContext, count: number) => 'x'.repeat(count) } })
    const room = eventBytes - JSON.stringify({ result: '' }).length
    const kept = await runtime.spawn({ thread: 't', agent: 'sized', input: room })
    const left = await runtime.spawn({ thread: 't', agent: 'sized', input: room + 1 })
    expect((await eventsOf(runtime, 't', kept.id)).at(-1)?.data).toEqual({ result: 'x'.repeat(room) })
    expect((await eventsOf(runtime, 't', left.id)).at(-1)?.data).toEqual({ resultOmitted: true })
    expect((await runtime.get(left.id))?.result).toBe('x'.repeat(room + 1))
  })

  it('no event is over the limit with the numbers and instants that its commit puts into it', async () => {
    const limit = 2_048
    const agents = {
      asking: async (ctx: AgentContext, text: string) => {
        await ctx.ask({ text: text.repeat(2), default: 'no', timeoutMs: 1 }).catch(() => undefined)
      },
    }
    const here = world()
    const runtime = await here.open({ agents, limits: { eventBytes: limit } })
    for (let length = limit - 320; length < limit; length += 4) {
      await runtime.spawn({ thread: 't', agent: 'asking', prompt: 'x'.repeat(length / 2) })
      await runtime.run({ thread: 't', agent: 'asking', prompt: 'x'.repeat(length), onBusy: 'interrupt' })
    }
    await here.quiet()
    const sizes = (await logOf(runtime, 't')).map(({ type, data }) => [type, Buffer.byteLength(JSON.stringify(data))])
    expect(sizes.filter(([, size]) => Number(size) > limit)).toEqual([])
    for (const type of ['task.accepted', 'message.created', 'question.asked'])
      expect(sizes.some(([of, size]) => of === type && Number(size) > limit - 80)).toBe(true)
  })

  it('an emit over the limit is refused to the agent, which goes on', async () => {
    const runtime = await world().open({
      agents: {
        loud: async (ctx: AgentContext) => {
          try {
            await ctx.say(large)
          } catch (error) {
            await ctx.say(isHoldfastError(error, 'too_large') ? 'too much' : 'what?')
          }
        },
      },
    })
    const { id } = await runtime.run({ thread: 't', agent: 'loud', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
    expect((await runtime.messages('t')).at(-1)?.parts).toEqual([{ type: 'text', text: 'too much' }])
  })

  it('no event is larger than the limit, however long an error, a reason, a message or metadata is', async () => {
    const hold = gate()
    const runtime = await world().open({
      agents: {
        failing: () => failed(large),
        throwing: () => Promise.reject(new Error(large)),
        waiting: () => hold.opened,
      },
    })
    for (const agent of ['failing', 'throwing']) {
      const { id } = await runtime.run({ thread: 't', agent, prompt: 'go' })
      const ended = await runtime.wait(id)
      expect(ended?.status).toBe('failed')
      expect(ended?.error?.message.startsWith('ééé')).toBe(true)
    }
    const { id } = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'go' })
    const tooLarge = { code: 'too_large' }
    const steer = { thread: 't', agent: 'waiting', onBusy: 'steer' } as const
    await expect(runtime.run({ ...steer, prompt: large })).rejects.toMatchObject(tooLarge)
    await expect(runtime.send(id, { content: large })).rejects.toMatchObject(tooLarge)
    await expect(runtime.send(id, { content: 'hi', from: large })).rejects.toMatchObject(tooLarge)
    await expect(runtime.run({ ...steer, prompt: 'hi', metadata: { large } })).rejects.toMatchObject(tooLarge)
    await expect(runtime.cancel(id, large)).rejects.toMatchObject(tooLarge)
    expect(await runtime.get(id)).not.toHaveProperty('cancelRequestedAt')
    hold.open()
    await runtime.wait(id)
    const sizes = (await logOf(runtime, 't')).map((event) => Buffer.byteLength(JSON.stringify(event.data)))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(eventBytes)
  })
})

async function echo(ctx: AgentContext, input: { large: string }): Promise<unknown> {
  const half = input.large.length / 2
  await ctx.say(input.large.slice(0, half))
  await ctx.say(input.large.slice(half))
  return input
}
