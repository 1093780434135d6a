import { expect, it } from 'vitest'
import { type AgentContext, isHoldfastError, type OnBusy } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { logOf, onEachStore } from './world.ts'

const agents = { slow: untilStopped, brief: () => 'done' }
const refused = {
  code: 'limit_reached',
  facts: { limit: 'openTasksPerPrincipal', max: 3, retryAfterMs: 1000 },
}
const limits = { openTasksPerPrincipal: 3 }

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a principal has at most so many open tasks, over all threads, runs and spawns alike', async () => {
    const runtime = await world().open({ agents, limits })
    await runtime.run({ thread: 'a', agent: 'slow', prompt: 'go' })
    await runtime.run({ thread: 'a', agent: 'slow', prompt: 'go' })
    await runtime.spawn({ thread: 'b', agent: 'slow' })
    const before = await logOf(runtime, 'a')
    await expect(runtime.run({ thread: 'a', agent: 'slow', prompt: 'go' })).rejects.toMatchObject(refused)
    await expect(runtime.spawn({ thread: 'a', agent: 'slow' })).rejects.toMatchObject(refused)
    await expect(runtime.spawn({ thread: 'a', run: untilStopped })).rejects.toMatchObject(refused)
    expect(await logOf(runtime, 'a')).toEqual(before)
    expect((await runtime.list()).tasks).toHaveLength(3)
  })

  it('another principal has a count of its own', async () => {
    const runtime = await world().open({ agents, limits })
    for (const thread of ['a', 'b', 'c']) await runtime.spawn({ thread, agent: 'slow' })
    await expect(runtime.as('bob').spawn({ thread: 'a', agent: 'slow' })).resolves.toMatchObject({ status: 'running' })
    await expect(runtime.spawn({ thread: 'd', agent: 'slow' })).rejects.toMatchObject(refused)
  })

  it('of many that ask at once, exactly as many are accepted as there is room for', async () => {
    const runtime = await world().open({ agents, limits })
    const asked = Array.from({ length: 20 }, (_, n) => runtime.spawn({ thread: `t${n}`, agent: 'slow' }))
    const answers = await Promise.allSettled(asked)
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect((await runtime.list()).tasks).toHaveLength(3)
  })

  it('a task that ends makes room at once, without a poll', async () => {
    const runtime = await world().open({ agents, limits })
    const [first] = await Promise.all(['a', 'b', 'c'].map((thread) => runtime.spawn({ thread, agent: 'slow' })))
    await expect(runtime.spawn({ thread: 'd', agent: 'slow' })).rejects.toMatchObject(refused)
    await runtime.cancel(first?.id ?? '')
    await runtime.wait(first?.id ?? '')
    await runtime.spawn({ thread: 'd', agent: 'slow' })
    await expect(runtime.spawn({ thread: 'e', agent: 'slow' })).rejects.toMatchObject(refused)
  })

  it('the count of the store changes nothing on a node that is alone, whenever it comes', async () => {
    const here = world()
    const runtime = await here.open({ agents, limits })
    const asked = Array.from({ length: 30 }, async (_, n) => {
      if (n % 5 === 0) await here.clock.advance(1_000)
      const task = await runtime.spawn({ thread: `t${n}`, agent: 'brief' }).catch((error: unknown) => {
        if (!isHoldfastError(error, 'limit_reached')) throw error
      })
      if (task) await runtime.wait(task.id)
    })
    await Promise.all(asked)
    await here.clock.advance(1_000)
    await here.quiet()
    for (const thread of ['a', 'b', 'c']) await runtime.spawn({ thread, agent: 'slow' })
    await expect(runtime.spawn({ thread: 'd', agent: 'slow' })).rejects.toMatchObject(refused)
  })

  it('what a crash left open counts from the first request on', async () => {
    const here = world()
    const runtime = await here.open({ agents, limits })
    for (const thread of ['a', 'b', 'c']) await runtime.spawn({ thread, agent: 'slow' })
    await here.crash()
    const next = await here.open({ agents, limits })
    await expect(next.spawn({ thread: 'd', agent: 'slow' })).rejects.toMatchObject(refused)
    await next.cancelAll('a')
    await here.quiet()
    await next.spawn({ thread: 'd', agent: 'slow' })
  })

  it('a refused commit gives its place back', async () => {
    const here = world()
    const runtime = await here.open({ agents, limits })
    here.store.down()
    for (let i = 0; i < 5; i++) {
      await expect(runtime.spawn({ thread: 'a', agent: 'slow' })).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    here.store.up()
    await here.clock.advance(2_000)
    await here.quiet()
    for (const thread of ['a', 'b', 'c']) await runtime.spawn({ thread, agent: 'slow' })
    await expect(runtime.spawn({ thread: 'd', agent: 'slow' })).rejects.toMatchObject(refused)
  })

  it('a repeated request is answered with its task, also when there is no room', async () => {
    const runtime = await world().open({ agents, limits })
    const request = { thread: 'a', agent: 'slow', prompt: 'go', idempotencyKey: 'k' } as const
    const { id } = await runtime.run(request)
    for (const thread of ['b', 'c']) await runtime.spawn({ thread, agent: 'slow' })
    expect(await runtime.run(request)).toMatchObject({ id, isReplayed: true })
  })

  it('ctx.spawn is refused to the agent, in its own thread and in another, and it goes on', async () => {
    const refusals: unknown[] = []
    const note = (error: unknown) => void refusals.push(error)
    const runtime = await world().open({
      limits: { openTasksPerPrincipal: 1 },
      agents: {
        ...agents,
        async parent(ctx: AgentContext) {
          await ctx.spawn({ agent: 'brief' }).catch(note)
          await ctx.spawn({ agent: 'brief', thread: 'other' }).catch(note)
          return 'went on'
        },
      },
    })
    const { id } = await runtime.spawn({ thread: 'a', agent: 'parent' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 'went on' })
    const facts = { limit: 'openTasksPerPrincipal', max: 1 }
    expect(refusals).toMatchObject([
      { code: 'limit_reached', facts },
      { code: 'limit_reached', facts },
    ])
    expect((await runtime.list()).tasks).toHaveLength(1)
  })

  it('a prompt that opens no more tasks than it ends is not refused: one that steers, or that interrupts a queue', async () => {
    const runtime = await world().open({ agents, limits: { openTasksPerPrincipal: 2 } })
    const ask = (onBusy: OnBusy) => runtime.run({ thread: 'a', agent: 'slow', prompt: 'go', onBusy })
    const [first, second] = [await ask('queue'), await ask('queue')]
    await expect(ask('queue')).rejects.toMatchObject({ code: 'limit_reached' })
    expect(await ask('steer')).toMatchObject({ id: first.id, steered: expect.any(String) as string })
    expect(await ask('interrupt')).toMatchObject({ interrupted: [first.id, second.id, expect.any(String) as string] })
  })
})
