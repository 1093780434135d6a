import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { logOf, onEachStore } from './world.ts'

const limits = { liveInputBytesPerThread: 1_000 }
// With its quotes it takes 400 bytes, and half as many characters.
const input = 'é'.repeat(199)
const refused = {
  code: 'limit_reached',
  message: expect.stringContaining('(liveInputBytesPerThread)') as string,
  facts: { limit: 'liveInputBytesPerThread', max: 1_000, retryAfterMs: 1000 },
}
const agents = { slow: untilStopped, brief: () => 'done' }

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('what the live tasks of a thread were given is limited, in each thread for itself', async () => {
    const runtime = await world().open({ agents, limits })
    for (let n = 0; n < 2; n++) await runtime.spawn({ thread: 'a', agent: 'slow', input })
    await expect(runtime.spawn({ thread: 'a', agent: 'slow', input })).rejects.toMatchObject(refused)
    await expect(runtime.run({ thread: 'a', agent: 'slow', input })).rejects.toMatchObject(refused)
    await runtime.spawn({ thread: 'b', agent: 'slow', input })
    await runtime.spawn({ thread: 'a', agent: 'slow', input: 'x'.repeat(198) })
    await expect(runtime.spawn({ thread: 'a', agent: 'slow', input: 1 })).rejects.toMatchObject(refused)
    expect(await runtime.spawn({ thread: 'a', agent: 'slow' })).toMatchObject({ status: 'running' })
  })

  it('a task that ends makes room, and one whose input is larger by itself is taken while no other has any', async () => {
    const runtime = await world().open({ agents, limits })
    const large = await runtime.spawn({ thread: 'a', agent: 'slow', input: 'x'.repeat(5_000) })
    await expect(runtime.spawn({ thread: 'a', agent: 'slow', input })).rejects.toMatchObject(refused)
    await runtime.cancel(large.id)
    await runtime.wait(large.id)
    for (let n = 0; n < 2; n++) await runtime.spawn({ thread: 'a', agent: 'slow', input })
    await expect(runtime.spawn({ thread: 'a', agent: 'slow', input })).rejects.toMatchObject(refused)
  })

  it('what a restart finds live counts as before', async () => {
    const here = world()
    const before = await here.open({ agents, limits })
    for (let n = 0; n < 2; n++) await before.spawn({ thread: 'a', agent: 'slow', input })
    await here.crash()
    const after = await here.open({ agents, limits })
    await expect(after.spawn({ thread: 'a', agent: 'slow', input })).rejects.toMatchObject(refused)
  })

  it('messages that nobody has read are limited as well, and one that is read makes room', async () => {
    const here = world()
    const reader = async (ctx: AgentContext) => {
      await ctx.receive()
      return untilStopped(ctx)
    }
    const runtime = await here.open({ agents: { ...agents, reader }, limits })
    const { id } = await runtime.spawn({ thread: 'a', agent: 'slow' })
    const other = await runtime.spawn({ thread: 'b', agent: 'reader' })
    // With what stands around it each takes some 460 bytes.
    const content = 'x'.repeat(200)
    const send = (task: string) => runtime.send(task, { content })
    for (let n = 0; n < 2; n++) expect(await send(id)).toMatchObject({ isSent: true })
    await expect(send(id)).rejects.toMatchObject(refused)
    for (let n = 0; n < 3; n++) {
      expect(await send(other.id)).toMatchObject({ isSent: true })
      await here.quiet()
    }
    await expect(send(other.id)).rejects.toMatchObject(refused)
    await runtime.cancel(id)
    await runtime.wait(id)
    const next = await runtime.spawn({ thread: 'a', agent: 'slow' })
    expect(await runtime.send(next.id, { content: 'x'.repeat(5_000) })).toMatchObject({ isSent: true })
  })

  it('a message counts in bytes, with the label of its sender', async () => {
    const runtime = await world().open({ agents, limits })
    const sendTwice = async (thread: string, message: { content: string; from?: string }) => {
      const { id } = await runtime.spawn({ thread, agent: 'slow' })
      expect(await runtime.send(id, message)).toMatchObject({ isSent: true })
      return runtime.send(id, message)
    }
    // 300 bytes each, in a third as many characters.
    await expect(sendTwice('a', { content: '漢'.repeat(100) })).rejects.toMatchObject(refused)
    await expect(sendTwice('b', { content: 'x', from: 'é'.repeat(150) })).rejects.toMatchObject(refused)
    expect(await sendTwice('c', { content: 'x'.repeat(100) })).toMatchObject({ isSent: true })
  })

  it('a message that is refused is told what it takes, and what of it is not its own', async () => {
    const runtime = await world().open({ agents, limits })
    const { id } = await runtime.spawn({ thread: 'a', agent: 'slow' })
    await runtime.send(id, { content: 'x'.repeat(498) })
    await expect(runtime.send(id, { content: '' })).rejects.toThrow(
      'Messages that the tasks of this thread have not read take 756 bytes, and this one 258 more, each with 256 for what ' +
        'stands around it, which would pass 1000 (liveInputBytesPerThread)',
    )
  })

  it('neither a collected result nor a prompt that steers takes the room of messages', async () => {
    const here = world()
    const parent = async (ctx: AgentContext) => {
      await ctx.spawn({ agent: 'talk', detached: true })
      return untilStopped(ctx)
    }
    const runtime = await here.open({ agents: { parent, talk: () => 'x'.repeat(900) }, limits })
    const { id } = await runtime.run({ thread: 'a', agent: 'parent', prompt: 'go' })
    await here.quiet()
    const { results } = await runtime.results('a')
    expect(results).toHaveLength(1)
    await runtime.collect(
      'a',
      results.map((result) => result.task),
    )
    await runtime.run({ thread: 'a', agent: 'parent', prompt: 'x'.repeat(500), onBusy: 'steer' })
    for (let n = 0; n < 2; n++) {
      expect(await runtime.send(id, { content: 'x'.repeat(200) })).toMatchObject({ isSent: true })
    }
    await expect(runtime.send(id, { content: 'x'.repeat(200) })).rejects.toMatchObject(refused)
  })

  it('prompts that wait in the queue and prompts that steer count, and an interrupt makes room for itself', async () => {
    const runtime = await world().open({ agents, limits })
    const ask = (onBusy: 'queue' | 'steer' | 'interrupt') =>
      runtime.run({ thread: 'a', agent: 'slow', prompt: 'x'.repeat(300), onBusy })
    const first = await ask('queue')
    const second = await ask('queue')
    await ask('steer')
    await expect(ask('steer')).rejects.toMatchObject(refused)
    await expect(ask('queue')).rejects.toMatchObject(refused)
    expect(await ask('interrupt')).toMatchObject({
      interrupted: expect.arrayContaining([first.id, second.id]) as string[],
    })
  })

  it.each(['queue', 'steer', 'interrupt'] as const)(
    'nothing of a prompt that is refused is stored: %s',
    async (onBusy) => {
      const runtime = await world().open({ agents, limits })
      for (let n = 0; n < 2; n++) await runtime.spawn({ thread: 'a', agent: 'slow', input })
      await runtime.run({ thread: 'a', agent: 'slow', prompt: 'x'.repeat(50) })
      const stored = async () => ({
        log: await logOf(runtime, 'a'),
        messages: await runtime.messages('a'),
        tasks: (await runtime.list({ thread: 'a' })).tasks,
      })
      const before = await stored()
      const asked = runtime.run({ thread: 'a', agent: 'slow', prompt: 'x'.repeat(900), onBusy })
      await expect(asked).rejects.toMatchObject(refused)
      expect(await stored()).toEqual(before)
      expect(before.messages).toMatchObject([{ role: 'user' }])
    },
  )

  it('ctx.spawn is refused to the agent, and what its children give back is refused to nobody', async () => {
    const parent = async (ctx: AgentContext) => {
      const children = [await ctx.spawn({ agent: 'talk', input: 1 }), await ctx.spawn({ agent: 'talk', input: 2 })]
      const isRefused = await ctx.spawn({ agent: 'talk', input: 'x'.repeat(2_000) }).catch((error: unknown) => error)
      const ends = await Promise.all(children.map(({ id }) => ctx.wait(id)))
      return { code: (isRefused as { code: string }).code, count: ends.length }
    }
    const talk = () => 'x'.repeat(900)
    const runtime = await world().open({ agents: { parent, talk }, limits })
    const { id } = await runtime.run({ thread: 'a', agent: 'parent', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ result: { code: 'limit_reached', count: 2 } })
  })
})
