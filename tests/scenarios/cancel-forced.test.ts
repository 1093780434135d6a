import { expect, it } from 'vitest'
import type { AgentContext, Runtime } from '../../src/index.ts'
import { forever, untilStopped } from './bodies.ts'
import { counterOf } from './counters.ts'
import { eventsUntil, gate, logOf, onEachStore } from './world.ts'

const graceMs = 5_000
const lateEmits = (runtime: Runtime) => counterOf(runtime, 'holdfast_late_emits_total')

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'accepted',
    (error: { code?: unknown }) => error.code,
  )
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-20 a run that ignores its signal is ended after the grace time; what it says later is dropped and counted', async () => {
    const here = world()
    const goOn = gate()
    const isDone = gate()
    const stubborn = async (ctx: AgentContext) => {
      await ctx.say('so far')
      await goOn.opened
      await ctx.say(' and on')
      await ctx.emit('still here')
      await ctx.progress(1)
      isDone.open()
      return 'a late result'
    }
    const runtime = await here.open({ agents: { stubborn }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'stubborn', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
    expect(await runtime.cancel(run.id)).toBe(true)
    await here.clock.advance(graceMs - 1)
    await here.quiet()
    expect(await runtime.get(run.id)).toMatchObject({ status: 'running' })
    await here.clock.advance(1)
    const ended = await runtime.wait(run.id)
    expect(ended).toMatchObject({ status: 'cancelled', partial: true, error: { code: 'cancelled' } })
    expect(ended?.error?.message).toContain('cancelled')
    const log = await logOf(runtime, 't')
    expect(log.at(-1)).toMatchObject({ type: 'task.cancelled', data: { forced: true, partial: true } })
    expect((await runtime.messages('t')).at(-1)).toMatchObject({
      role: 'assistant',
      finish: 'cancelled',
      parts: [{ type: 'text', text: 'so far' }],
    })

    const before = await lateEmits(runtime)
    goOn.open()
    await isDone.opened
    await here.quiet()
    expect((await lateEmits(runtime)) - before).toBe(3)
    expect(await logOf(runtime, 't')).toEqual(log)
    expect(await runtime.get(run.id)).toEqual(ended)
  })

  it('a task that ends within the grace time is not ended by force', async () => {
    const here = world()
    const goOn = gate()
    const runtime = await here.open({ graceMs })
    const task = await runtime.spawn({ thread: 't', run: () => goOn.opened })
    await runtime.cancel(task.id)
    await here.clock.advance(graceMs - 1)
    goOn.open()
    await runtime.wait(task.id)
    await here.clock.advance(graceMs)
    await here.quiet()
    const last = (await logOf(runtime, 't')).at(-1)
    expect(last?.type).toBe('task.cancelled')
    expect(last?.data).not.toHaveProperty('forced')
  })

  it('what a task emits after it has ended is dropped and counted', async () => {
    const here = world()
    const runtime = await here.open()
    const endings = [() => 'done', () => Promise.reject(new Error('broken'))]
    for (const end of endings) {
      const goOn = gate()
      const emitted = gate()
      const late = async (ctx: AgentContext) => {
        await goOn.opened
        await Promise.all([ctx.emit('late'), ctx.say('late'), ctx.answer('late'), ctx.think('late')])
        emitted.open()
      }
      const run = (ctx: AgentContext) => {
        void late(ctx)
        return end()
      }
      const task = await runtime.spawn({ thread: 't', run })
      const ended = await runtime.wait(task.id)
      const log = await logOf(runtime, 't')
      const before = await lateEmits(runtime)
      goOn.open()
      await emitted.opened
      await here.quiet()
      expect((await lateEmits(runtime)) - before).toBe(4)
      expect(await logOf(runtime, 't')).toEqual(log)
      expect(await runtime.get(task.id)).toEqual(ended)
    }
  })

  it('what a task asks for after it was ended by force is refused to it', async () => {
    const here = world()
    const goOn = gate()
    const refusals = gate<unknown>()
    const runtime = await here.open({ graceMs })
    const stubborn = async (ctx: AgentContext) => {
      await goOn.opened
      const asks = [
        ctx.step('more', () => 1),
        ctx.tool('search', {}, () => 1),
        ctx.spawn({ run: untilStopped }),
        ctx.sleep(1),
        ctx.receive(),
        ctx.wait('bg_0'),
        runtime.spawn({ thread: 't', run: untilStopped }),
      ]
      refusals.open(await Promise.all(asks.map(codeOf)))
    }
    const task = await runtime.spawn({ thread: 't', run: stubborn })
    await runtime.cancel(task.id)
    await here.clock.advance(graceMs)
    await runtime.wait(task.id)
    goOn.open()
    expect(await refusals.opened).toEqual(Array(7).fill('task_terminated'))
    expect((await runtime.list()).tasks).toHaveLength(1)
  })

  it('a task that was ended by force holds no slot', async () => {
    const here = world()
    const runtime = await here.open({ graceMs, concurrency: 1 })
    const stubborn = await runtime.spawn({ thread: 't', run: forever })
    const next = await runtime.spawn({ thread: 't', run: () => 'my turn' })
    await runtime.cancel(stubborn.id)
    await here.clock.advance(graceMs)
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed', result: 'my turn' })
  })

  it.each<[string, (ctx: AgentContext, isOver: () => boolean) => Promise<unknown>]>([
    [
      'emits',
      async (ctx, isOver) => {
        while (!isOver()) await ctx.say('.')
      },
    ],
    [
      'waits for a child and catches every error',
      async (ctx, isOver) => {
        const { id } = await ctx.spawn({ run: forever, detached: true })
        while (!isOver()) await ctx.wait(id).catch(() => undefined)
      },
    ],
    [
      'takes steps and catches every error',
      async (ctx, isOver) => {
        while (!isOver()) await ctx.step('again', () => 1).catch(() => undefined)
      },
    ],
    [
      'sleeps and catches every error',
      async (ctx, isOver) => {
        while (!isOver()) await ctx.sleep(1_000).catch(() => undefined)
      },
    ],
  ])('a task that %s in a loop without end is ended by force, and keeps nobody else from working', async (_, loop) => {
    const here = world()
    let isOver = false
    const runtime = await here.open({ graceMs })
    const task = await runtime.spawn({ thread: 't', run: (ctx) => loop(ctx, () => isOver) })
    await runtime.cancel(task.id)
    await here.clock.advance(graceMs)
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'cancelled' })
    const other = await runtime.spawn({ thread: 'u', run: () => 'unharmed' })
    expect(await runtime.wait(other.id)).toMatchObject({ status: 'completed', result: 'unharmed' })
    isOver = true
  })

  it('an agent that yields without end is ended by force, and keeps nobody else from working', async () => {
    const here = world()
    let isOver = false
    async function* chatty() {
      while (!isOver) yield 'and '
    }
    const runtime = await here.open({ agents: { chatty }, graceMs })
    const run = await runtime.run({ thread: 't', agent: 'chatty', prompt: 'go' })
    await runtime.cancel(run.id)
    await here.clock.advance(graceMs)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled', partial: true })
    const other = await runtime.spawn({ thread: 'u', run: () => 'unharmed' })
    expect(await runtime.wait(other.id)).toMatchObject({ status: 'completed', result: 'unharmed' })
    isOver = true
  })
})
