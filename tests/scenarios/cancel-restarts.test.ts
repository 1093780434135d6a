import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a crash does not lose a cancel: the run is not resumed, and ends cancelled with what it had put out', async () => {
    const here = world()
    let calls = 0
    const stubborn = async (ctx: AgentContext) => {
      calls += 1
      await ctx.step('first', () => ctx.say('so far'))
      return forever()
    }
    const agents = { stubborn }
    const first = await here.open({ agents })
    const run = await first.run({ thread: 't', agent: 'stubborn', prompt: 'go' })
    const child = await first.spawn({ thread: 't', agent: 'stubborn', parent: { task: run.id } })
    await eventsUntil(first, { thread: 't', task: run.id }, ({ type }) => type === 'text.delta')
    expect(await first.cancelTree(run.id)).toBe(2)
    await here.crash()
    const second = await here.open({ agents })
    for (const { id } of [run, child]) expect(await second.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
    expect((await second.messages('t')).at(-1)).toMatchObject({
      role: 'assistant',
      finish: 'cancelled',
      parts: [{ type: 'text', text: 'so far' }],
    })
    expect((await logOf(second, 't')).map(({ type }) => type)).not.toContain('task.resumed')
    expect(calls).toBe(2)
  })

  it('a cancel whose answer was lost with the process counts if it was committed, and only then', async () => {
    const agents = { untilStopped }
    for (const fault of ['crash_before', 'crash_after'] as const) {
      const here = world()
      const first = await here.open({ agents })
      const run = await first.run({ thread: 't', agent: 'untilStopped', prompt: 'go' })
      here.store.plan((units) => (units.some(({ operation }) => operation === 'cancel') ? fault : 'none'))
      void first.cancel(run.id)
      await here.store.crashed
      await here.crash()
      const second = await here.open({ agents })
      await here.quiet()
      const after = await second.get(run.id)
      expect([fault, after?.status]).toEqual([fault, fault === 'crash_after' ? 'cancelled' : 'running'])
    }
  })

  it('a task that is being cancelled when its runtime closes ends cancelled, at once or at the next start', async () => {
    const here = world()
    const agents = { forever }
    const first = await here.open({ agents })
    const named = await first.spawn({ thread: 't', agent: 'forever' })
    const closure = await first.spawn({ thread: 't', run: forever })
    expect(await first.cancelAll('t')).toBe(2)
    await first.close({ drainMs: 0 })
    const second = await here.open({ agents })
    for (const { id } of [named, closure])
      expect(await second.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
  })

  it('a cancel reaches a task that waits for a node with its agent', async () => {
    const here = world()
    const first = await here.open({ agents: { forever } })
    const running = await first.run({ thread: 't', agent: 'forever', prompt: 'one' })
    const queued = await first.run({ thread: 't', agent: 'forever', prompt: 'two' })
    await here.crash()
    const second = await here.open()
    expect(await second.cancelThread('t')).toEqual([running.id, queued.id])
    for (const { id } of [running, queued]) expect(await second.wait(id)).toMatchObject({ status: 'cancelled' })
    expect((await second.messages('t')).map(({ role, finish }) => [role, finish])).toEqual([
      ['user', undefined],
      ['user', undefined],
      ['assistant', 'cancelled'],
      ['assistant', 'cancelled'],
    ])
  })
})
