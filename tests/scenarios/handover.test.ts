import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

/** Work of a task's own, by the clock of the test. */
type Work = (ms: number) => Promise<void>

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('REST-16 a task that is handed over goes on from its last step at the next start', async () => {
    const here = world()
    const executed: number[] = []
    const agents = {
      worker: async (ctx: AgentContext) => {
        await ctx.step('one', async () => {
          executed.push(ctx.attempt)
          await ctx.say('one ')
        })
        await ctx.say('two')
        if (ctx.attempt === 1) await forever()
        return 'done'
      },
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'text.delta' && event.data.text === 'two')
    await runtime.close({ drainMs: 0 })
    const next = await here.open({ agents })
    expect(await next.wait(id)).toMatchObject({ status: 'completed', result: 'done', attempt: 2 })
    expect(executed).toEqual([1])
    expect((await next.messages('t')).at(-1)?.parts).toEqual([{ type: 'text', text: 'one two' }])
  })

  it('closing ends though the store is down, and the task is found at the next start', async () => {
    const here = world()
    const agents = { worker: (ctx: AgentContext) => (ctx.attempt === 1 ? forever() : 'done') }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    const function_ = await runtime.spawn({ thread: 't', run: forever })
    here.store.down()
    await runtime.close({ drainMs: 0 })
    const next = await here.open({ agents })
    expect(await next.wait(id)).toMatchObject({ status: 'completed', attempt: 2 })
    expect(await next.wait(function_.id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
  })

  it('REST-16 any number of hand-overs is no crash', async () => {
    const here = world()
    const agents = { idle: forever }
    let runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'idle', prompt: 'go' })
    for (const attempt of [1, 2, 3, 4, 5]) {
      await untilAttempt(runtime, attempt)
      await runtime.close({ drainMs: 0 })
      runtime = await here.open({ agents })
    }
    await untilAttempt(runtime, 6)
    expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt: 6 })
  })

  it('REST-16 hand-overs between crashes neither count as one nor excuse one', async () => {
    const here = world()
    const agents = { idle: forever }
    let runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'idle', prompt: 'go' })
    for (const attempt of [1, 2, 3, 4, 5]) {
      await untilAttempt(runtime, attempt)
      if (attempt % 2 === 0) await runtime.close({ drainMs: 0 })
      else await here.crash()
      runtime = await here.open({ agents })
    }
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 5 })
  })

  it('REST-16 a step that is recorded before a hand-over forgives the crashes before it', async () => {
    const here = world()
    const agents = {
      idle: async (ctx: AgentContext) => {
        if (ctx.attempt > 1) await ctx.step('further', () => 1)
        await ctx.emit('waiting')
        return forever()
      },
    }
    let runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'idle', prompt: 'go' })
    for (const attempt of [1, 2, 3, 4, 5]) {
      await untilAttempt(runtime, attempt)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt })
      if (attempt === 2) await runtime.close({ drainMs: 0 })
      else await here.crash()
      runtime = await here.open({ agents })
    }
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 5 })
  })

  it('REST-16 the signal says that it is a hand-over, and nothing is written after it', async () => {
    const here = world()
    const listening = gate()
    const stopped = gate<unknown>()
    const refused = gate<unknown>()
    const agents = {
      stubborn: async (ctx: AgentContext) => {
        await ctx.step('one', () => ctx.say('one '))
        if (ctx.attempt > 1) return 'done'
        ctx.signal.addEventListener('abort', () => void goOn(ctx))
        listening.open()
        return forever()
      },
    }
    const goOn = async (ctx: AgentContext) => {
      stopped.open(ctx.signal.reason)
      await ctx.say('too late')
      await ctx.step('two', () => 'too late').catch(refused.open)
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'stubborn', prompt: 'go' })
    const seen = await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
    await listening.opened
    await runtime.close({ drainMs: 0 })
    expect(await stopped.opened).toMatchObject({ name: 'AbortError', reason: 'handover' })
    expect(await refused.opened).toMatchObject({ code: 'task_terminated' })
    const next = await here.open({ agents })
    const events = await eventsOf(next, 't', id)
    expect(events.slice(0, seen.length)).toEqual(seen)
    expect(events.slice(seen.length).map(({ type }) => type)).toEqual([
      'task.resumed',
      'message.created',
      'task.completed',
    ])
  })

  it('REST-16 a task that waits is handed over and waits only for the rest', async () => {
    const here = world()
    const agents = { sleeper: (ctx: AgentContext) => ctx.sleep(500) }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'sleeper', prompt: 'go' })
    await here.quiet()
    await here.clock.advance(200)
    await runtime.close({ drainMs: 0 })
    const next = await here.open({ agents })
    const { startedAt = 0, completedAt = 0 } = (await inQuietTime(here, next.wait(id))) ?? {}
    expect(completedAt - startedAt).toBe(500)
  })

  it('REST-16 REST-06 a function of the process that closes ends as orphaned', async () => {
    const here = world()
    const runtime = await here.open()
    const { id } = await runtime.spawn({ thread: 't', run: forever })
    await untilAttempt(runtime, 1)
    await runtime.close({ drainMs: 0 })
    const next = await here.open()
    expect(await next.get(id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
  })

  it('REST-16 what ends while the runtime drains is not handed over', async () => {
    const here = world()
    const agents = { sleeper: (ctx: AgentContext) => ctx.sleep(5_000) }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'sleeper', prompt: 'go' })
    await here.quiet()
    await inQuietTime(here, runtime.close({ drainMs: 10_000 }))
    const next = await here.open({ agents })
    expect(await next.get(id)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  it.for<[string, (ctx: AgentContext) => Promise<unknown>]>([
    ['a person', (ctx) => ctx.ask({ text: 'May I?' })],
    ['a message', (ctx) => ctx.receive()],
    ['an hour to pass', (ctx) => ctx.sleep(3_600_000)],
    ['a child that waits', async (ctx) => ctx.wait((await ctx.spawn({ agent: 'asker' })).id)],
  ])('REST-16 a drain waits no longer than a moment where all that is left waits for %s', async ([, waiting]) => {
    const here = world()
    const runtime = await here.open({ agents: { waiting, asker: (ctx: AgentContext) => ctx.ask({ text: 'May I?' }) } })
    const { id } = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'go' })
    await here.quiet()
    const beganAt = here.clock.now()
    await inQuietTime(here, runtime.close({ drainMs: 25_000 }))
    expect(here.clock.now() - beganAt).toBeLessThan(2_000)
    const next = await here.open()
    expect(await next.get(id)).toMatchObject({ status: 'running', attempt: 1 })
  })

  it.for<[string, (ctx: AgentContext, work: Work) => Promise<unknown>]>([
    [
      'emits beside a wait',
      async (ctx, work) => {
        ctx.receive().catch(() => {})
        for (let n = 0; n < 15; n++) {
          await ctx.say('word ')
          await work(200)
        }
      },
    ],
    [
      'works in a step beside a wait',
      (ctx, work) =>
        ctx.step('work', async () => {
          ctx.receive().catch(() => {})
          await work(3_000)
        }),
    ],
  ])('REST-16 a drain lets a task finish that %s', async ([, working]) => {
    const here = world()
    const work: Work = (ms) => new Promise((resolve) => void here.clock.setTimer(ms, resolve))
    const runtime = await here.open({ agents: { working: (ctx: AgentContext) => working(ctx, work) } })
    const { id } = await runtime.run({ thread: 't', agent: 'working', prompt: 'go' })
    await here.quiet()
    await inQuietTime(here, runtime.close({ drainMs: 25_000 }))
    const next = await here.open()
    expect(await next.get(id)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  it('REST-16 a drain lets a task clean up that is cancelled', async () => {
    const here = world()
    const cleaning = async (ctx: AgentContext) => {
      await ctx.receive().catch(() => undefined)
      await new Promise((resolve) => void here.clock.setTimer(3_000, () => resolve(undefined)))
    }
    const runtime = await here.open({ agents: { cleaning } })
    const { id } = await runtime.run({ thread: 't', agent: 'cleaning', prompt: 'go' })
    await here.quiet()
    await runtime.cancel(id)
    await inQuietTime(here, runtime.close({ drainMs: 25_000 }))
    const next = await here.open()
    expect(await next.get(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
  })

  it('REST-16 a task that spawns while the runtime drains does not fail; the child starts at the next start', async () => {
    const here = world()
    const agents = {
      child: () => 'child is done',
      parent: async (ctx: AgentContext) => {
        await ctx.sleep(100)
        const { id } = await ctx.spawn({ agent: 'child' })
        const { answer } = await ctx.wait(id)
        return answer
      },
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'parent', prompt: 'go' })
    await here.quiet()
    await inQuietTime(here, runtime.close({ drainMs: 1_000 }), 50)
    const next = await here.open({ agents })
    expect(await next.wait(id)).toMatchObject({ status: 'completed', result: 'child is done', attempt: 2 })
    expect((await next.list({ thread: 't', type: 'agent' })).tasks).toHaveLength(1)
  })

  it('REST-16 a run that is accepted while the runtime closes is handed over too', async () => {
    const here = world()
    const agents = { idle: forever }
    const runtime = await here.open({ agents })
    const held = here.store.hold()
    const accepting = runtime.run({ thread: 't', agent: 'idle', prompt: 'go' })
    await held.reached
    const closing = runtime.close({ drainMs: 0 })
    await here.clock.advance(0)
    held.open()
    const { id } = await accepting
    await closing
    for (const _crash of [1, 2]) {
      const next = await here.open({ agents })
      await eventsUntil(next, { thread: 't' }, ({ type }) => type === 'task.resumed')
      await here.quiet()
      await here.crash()
    }
    // A third crash would poison it, so the closing runtime counted as none.
    const last = await here.open({ agents })
    await untilAttempt(last, 4)
    expect(await last.get(id)).toMatchObject({ status: 'running', attempt: 4 })
    expect((await logOf(last, 't')).filter(({ type }) => type === 'task.resumed')).toHaveLength(3)
  })
})
