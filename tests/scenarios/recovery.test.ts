import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

const idle = { idle: forever }

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('a task that cannot be resumed', () => {
    it('REST-06 a function of a process that died fails as orphaned and keeps what it had put out', async () => {
      const here = world()
      const runtime = await here.open()
      const run = async (ctx: AgentContext) => {
        await ctx.step('kept', () => ctx.say('so far'))
        return forever()
      }
      const { id } = await runtime.spawn({ thread: 't', run })
      await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
      await here.crash()
      const next = await here.open()
      const task = await next.wait(id)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'orphaned' }, partial: true, attempt: 1 })
      expect(task?.error?.message).toContain('orphaned')
      const types = (await eventsOf(next, 't', id)).map(({ type }) => type)
      expect(types).toEqual(['task.accepted', 'task.started', 'text.delta', 'task.failed'])
    })

    it('REST-06 a function that had not started fails as orphaned', async () => {
      const here = world()
      const runtime = await here.open({ concurrency: 1, agents: idle })
      await runtime.spawn({ thread: 't', agent: 'idle' })
      const { id } = await runtime.spawn({ thread: 't', run: () => 'never' })
      expect(await runtime.get(id)).toMatchObject({ status: 'pending' })
      await here.crash()
      const next = await here.open({ agents: idle })
      expect(await next.wait(id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
    })

    it('REST-06 an agent that must not be called again fails as orphaned, and the next run starts', async () => {
      const here = world()
      const started = gate()
      const run = async (ctx: AgentContext, input: string) => {
        await ctx.say(`said ${input}`)
        started.open()
        return input === 'first' ? forever() : 'done'
      }
      const agents = { once: { run, isResumable: false } }
      const runtime = await here.open({ agents })
      const first = await runtime.run({ thread: 't', agent: 'once', prompt: 'first' })
      const second = await runtime.run({ thread: 't', agent: 'once', prompt: 'second' })
      await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
      await here.crash()
      const next = await here.open({ agents })
      expect(await next.wait(first.id)).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
      expect(await next.wait(second.id)).toMatchObject({ status: 'completed', result: 'done' })
      const assistant = (await next.messages('t')).filter(({ role }) => role === 'assistant')
      expect(assistant.map(({ finish, parts }) => [finish, parts])).toEqual([
        ['error', [{ type: 'text', text: 'said first' }]],
        ['end_turn', [{ type: 'text', text: 'said second' }]],
      ])
    })

    it('a cancelled task is never resumed, and ends as cancelled at the next start', async () => {
      const here = world()
      let calls = 0
      const agents = {
        deaf: async (ctx: AgentContext) => {
          calls += 1
          await ctx.step('kept', () => ctx.say('so far'))
          return forever()
        },
      }
      const runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'deaf', prompt: 'go' })
      await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'text.delta')
      expect(await runtime.cancel(id, 'enough')).toBe(true)
      await here.crash()
      const next = await here.open({ agents })
      expect(await next.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1, partial: true })
      expect(calls).toBe(1)
      expect((await next.messages('t')).at(-1)).toMatchObject({ finish: 'cancelled', parts: [{ text: 'so far' }] })
    })
  })

  describe('a task that brings its process down', () => {
    it('is poisoned after three crashes in a row', async () => {
      const here = world()
      const agents = { bomb: forever }
      let runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'bomb', prompt: 'go' })
      for (const attempt of [1, 2, 3]) {
        await untilAttempt(runtime, attempt)
        await here.crash()
        runtime = await here.open({ agents })
      }
      const task = await runtime.wait(id)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 3 })
      expect(task?.error?.message).toContain('3 times')
    })

    it('is given three more tries by a newly recorded step', async () => {
      const here = world()
      const agents = {
        bomb: async (ctx: AgentContext) => {
          if (ctx.attempt >= 3) await ctx.step('further', () => 1)
          await ctx.emit('waiting')
          return forever()
        },
      }
      let runtime = await here.open({ agents })
      const { id } = await runtime.run({ thread: 't', agent: 'bomb', prompt: 'go' })
      for (const attempt of [1, 2, 3, 4, 5]) {
        await untilAttempt(runtime, attempt)
        await here.quiet()
        expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt })
        await here.crash()
        runtime = await here.open({ agents })
      }
      expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'poisoned' }, attempt: 5 })
    })
  })

  describe('a task whose agent is not there at the next start', () => {
    it('stays as it is and goes on when a start has it again', async () => {
      const here = world()
      const agents = {
        rare: async (ctx: AgentContext, input: string) => {
          const first = await ctx.step('one', () => ctx.attempt)
          if (ctx.attempt === 1 && input === 'first') return forever()
          return { first, attempt: ctx.attempt }
        },
      }
      const runtime = await here.open({ agents })
      const first = await runtime.run({ thread: 't', agent: 'rare', prompt: 'first' })
      const second = await runtime.run({ thread: 't', agent: 'rare', prompt: 'second' })
      await here.quiet()
      await here.crash()
      for (const _start of [1, 2, 3, 4]) {
        const other = await here.open({ agents: idle })
        await here.clock.advance(2_000)
        await here.quiet()
        expect(await other.get(first.id)).toMatchObject({ status: 'running', attempt: 1 })
        expect(await other.get(second.id)).toMatchObject({ status: 'pending' })
        await here.crash()
      }
      const next = await here.open({ agents })
      expect(await next.wait(first.id)).toMatchObject({ status: 'completed', result: { first: 1, attempt: 2 } })
      expect(await next.wait(second.id)).toMatchObject({ status: 'completed', result: { first: 1, attempt: 1 } })
    })

    it('can be cancelled meanwhile', async () => {
      const here = world()
      const runtime = await here.open({ agents: { rare: forever } })
      const first = await runtime.run({ thread: 't', agent: 'rare', prompt: 'first' })
      const second = await runtime.run({ thread: 't', agent: 'rare', prompt: 'second' })
      await untilAttempt(runtime, 1)
      await here.crash()
      const other = await here.open({ agents: idle })
      expect(await other.cancelThread('t')).toEqual([first.id, second.id])
      const ends = inQuietTime(here, Promise.all([other.wait(first.id), other.wait(second.id)]), 100)
      expect((await ends).map((task) => task?.status)).toEqual(['cancelled', 'cancelled'])
    })
  })

  it('REST-15 a child that was spawned is there again, though its agent is not', async () => {
    const here = world()
    const agents = {
      parent: async (ctx: AgentContext) => {
        const { id } = await ctx.spawn({ agent: 'gone' })
        const { answer } = await ctx.wait(id)
        await ctx.emit('waited')
        return ctx.attempt === 1 ? forever() : answer
      },
    }
    const runtime = await here.open({ agents: { ...agents, gone: () => 'was here' } })
    const { id } = await runtime.run({ thread: 't', agent: 'parent', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'custom')
    await here.crash()
    const next = await here.open({ agents })
    expect(await next.wait(id)).toMatchObject({ status: 'completed', result: 'was here' })
  })

  it('REST-15 a sleep that ended while no process lived is over at once', async () => {
    const here = world()
    const agents = {
      sleeper: async (ctx: AgentContext) => {
        await ctx.sleep(100)
        await ctx.sleep(50)
      },
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'sleeper', prompt: 'go' })
    await here.quiet()
    await here.clock.advance(30)
    await here.crash()
    await here.clock.advance(1_000)
    const next = await here.open({ agents })
    const { startedAt = 0, completedAt = 0 } = (await inQuietTime(here, next.wait(id))) ?? {}
    expect(completedAt - startedAt).toBe(1_030 + 50)
  })

  it('what a resumed task has put out so far is shown once', async () => {
    const here = world()
    const agents = {
      talker: async (ctx: AgentContext) => {
        await ctx.step('kept', () => ctx.say('kept '))
        if (ctx.attempt === 1) await ctx.say('abandoned')
        await ctx.emit('waiting')
        return forever()
      },
    }
    const runtime = await here.open({ agents })
    await runtime.run({ thread: 't', agent: 'talker', prompt: 'go' })
    await eventsUntil(runtime, { thread: 't' }, ({ type }) => type === 'custom')
    await here.crash()
    const next = await here.open({ agents })
    await untilAttempt(next, 2)
    const { live } = await next.thread('t')
    expect(live.map(({ parts }) => parts)).toEqual([[{ type: 'text', text: 'kept ' }]])
    expect((await logOf(next, 't')).filter(({ type }) => type === 'text.delta')).toHaveLength(2)
  })
})
