import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { unitWith } from './unit-with.ts'
import { eventsUntil, gate, logOf, onEachStore } from './world.ts'

const timeoutMs = 1_000
const graceMs = 5_000

/** Says something and goes on for ever. */
async function endless(ctx: AgentContext): Promise<unknown> {
  await ctx.say('so far')
  return forever()
}

/** Says something and ends when it is told to, as if all were well. */
async function obedient(ctx: AgentContext): Promise<unknown> {
  await ctx.say('so far')
  return untilStopped(ctx).catch((error: { reason: string }) => `stopped by ${error.reason}`)
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('a task that outruns its time gets its signal, and fails as timeout whatever it returns', async () => {
    const here = world()
    const runtime = await here.open({ agents: { obedient }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'obedient', prompt: 'go', timeoutMs })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
    await here.clock.advance(timeoutMs - 1)
    await here.quiet()
    expect(await runtime.get(run.id)).toMatchObject({ status: 'running' })
    await here.clock.advance(1)
    const ended = await runtime.wait(run.id)
    const error = { code: 'timeout', message: expect.stringContaining('1000 ms') }
    expect(ended).toMatchObject({ status: 'failed', partial: true, error, completedAt: here.clock.now() })
    expect(ended).not.toHaveProperty('result')
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'text.delta',
      'message.created',
      'task.failed',
    ])
    expect((await runtime.messages('t')).at(-1)).toMatchObject({
      role: 'assistant',
      finish: 'timeout',
      parts: [{ type: 'text', text: 'so far' }],
    })
  })

  it('a task that ignores its signal is ended by its time after the grace time', async () => {
    const here = world()
    const runtime = await here.open({ agents: { endless }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'endless', prompt: 'go', timeoutMs })
    const child = await runtime.spawn({ thread: 't', run: untilStopped, parent: { task: run.id } })
    await here.quiet()
    await here.clock.advance(timeoutMs + graceMs - 1)
    await here.quiet()
    expect(await runtime.get(run.id)).toMatchObject({ status: 'running' })
    await here.clock.advance(1)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    expect(unitWith(here.committed, run.id, 'task.failed')).toEqual([
      `${run.id} message.created`,
      `${run.id} task.failed`,
      `${child.id} task.cancelling`,
    ])
    expect(await runtime.wait(child.id)).toMatchObject({ status: 'cancelled' })
  })

  it('time runs from the start of a task, not from its acceptance', async () => {
    const here = world()
    const runtime = await here.open({ concurrency: 1, graceMs })
    const finish = gate()
    await runtime.spawn({ thread: 't', run: () => finish.opened })
    const task = await runtime.spawn({ thread: 't', run: untilStopped, timeoutMs })
    await here.clock.advance(10 * timeoutMs)
    expect(await runtime.get(task.id)).toMatchObject({ status: 'pending' })
    finish.open()
    await eventsUntil(runtime, { thread: 't', task: task.id }, ({ type }) => type === 'task.started')
    await here.clock.advance(timeoutMs - 1)
    await here.quiet()
    expect(await runtime.get(task.id)).toMatchObject({ status: 'running' })
    await here.clock.advance(1)
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
  })

  it('a task that waits in its context is woken by its time', async () => {
    const here = world()
    const runtime = await here.open({ graceMs })
    const waits: ((ctx: AgentContext) => Promise<unknown>)[] = [
      (ctx) => ctx.sleep(100 * timeoutMs),
      (ctx) => ctx.receive(),
      async (ctx) => ctx.wait((await ctx.spawn({ run: untilStopped })).id),
    ]
    const tasks = await Promise.all(waits.map((run) => runtime.spawn({ thread: 't', run, timeoutMs })))
    await here.quiet()
    await here.clock.advance(timeoutMs)
    for (const { id } of tasks) {
      expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    }
  })

  it('a task that ends in time is not touched when its time is over', async () => {
    const here = world()
    const runtime = await here.open({ graceMs })
    const task = await runtime.spawn({ thread: 't', run: () => 'done', timeoutMs })
    const ended = await runtime.wait(task.id)
    await here.clock.advance(timeoutMs + graceMs)
    await here.quiet()
    expect(await runtime.get(task.id)).toEqual(ended)
    expect(ended).toMatchObject({ status: 'completed', result: 'done' })
    expect((await runtime.thread('t')).head).toBe(ended?.seq)
  })

  it('a cancel that is committed before the time is over wins, though the task ends after it', async () => {
    const here = world()
    const runtime = await here.open({ agents: { endless }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'endless', prompt: 'go', timeoutMs })
    await here.clock.advance(timeoutMs - 1)
    expect(await runtime.cancel(run.id)).toBe(true)
    await here.clock.advance(graceMs)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
    expect((await logOf(runtime, 't')).at(-1)).toMatchObject({ type: 'task.cancelled', data: { forced: true } })
    expect((await runtime.messages('t')).at(-1)).toMatchObject({ finish: 'cancelled' })
  })

  it('a cancel during the grace time of a timeout is kept as well: the answer is true and the task cancelled', async () => {
    const here = world()
    const runtime = await here.open({ agents: { endless }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'endless', prompt: 'go', timeoutMs })
    await here.clock.advance(timeoutMs + 1)
    expect(await runtime.cancel(run.id)).toBe(true)
    await here.clock.advance(graceMs)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
    expect((await logOf(runtime, 't')).at(-1)).toMatchObject({ type: 'task.cancelled', data: { forced: true } })
  })
})
