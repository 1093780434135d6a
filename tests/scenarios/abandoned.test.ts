import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { forever, untilAttempt } from './attempts.ts'
import { inQuietTime } from './quiet-time.ts'
import { onEachStore, type World } from './world.ts'

/** Waits for a message that never comes, and so holds no slot; called again, it holds one for ever. */
async function waiter(ctx: AgentContext): Promise<unknown> {
  return ctx.attempt === 1 ? ctx.receive() : forever()
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('a task that waits for a slot after a crash', () => {
    /** A runtime whose one slot is held by the task of `t`, and which has not got to what came after it. */
    async function crowded(here: World, timeoutMs?: number) {
      const options = { agents: { waiter }, concurrency: 1 }
      const before = await here.open(options)
      const run = (thread: string) => before.run({ thread, agent: 'waiter', prompt: thread })
      await run('t')
      await here.quiet()
      const { id } = await before.run({ thread: 'a', agent: 'waiter', prompt: 'a', ...(timeoutMs && { timeoutMs }) })
      await here.quiet()
      const next = await before.run({ thread: 'a', agent: 'waiter', prompt: 'next' })
      await here.crash()
      const runtime = await here.open(options)
      await untilAttempt(runtime, 2)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt: 1 })
      return { runtime, id, next: next.id }
    }

    it('is cancelled all the same, and so is what is queued behind it', async () => {
      const here = world()
      const { runtime, id, next } = await crowded(here)
      expect(await runtime.cancelThread('a')).toEqual([id, next])
      expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled', attempt: 1 })
      expect((await runtime.messages('a')).map(({ finish }) => finish)).toEqual([
        undefined,
        undefined,
        'cancelled',
        'cancelled',
      ])
    })

    it('does not keep its thread from being deleted', async () => {
      const here = world()
      const { runtime, id } = await crowded(here)
      await inQuietTime(here, runtime.deleteThread('a'), 100)
      expect(await runtime.get(id)).toBeUndefined()
    })

    it('fails when its time is over, and the next run is promoted', async () => {
      const here = world()
      const { runtime, id, next } = await crowded(here, 60_000)
      await here.clock.advance(58_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' }, attempt: 1 })
      expect(await runtime.get(next)).toMatchObject({ status: 'pending', position: 0 })
    })
  })

  describe('a task whose agent is not there at the next start', () => {
    it('fails when its time is over, and the next run starts', async () => {
      const here = world()
      const before = await here.open({ agents: { rare: forever, echo: () => 'done' } })
      const { id } = await before.run({ thread: 't', agent: 'rare', prompt: 'go', timeoutMs: 60_000 })
      const next = await before.run({ thread: 't', agent: 'echo', prompt: 'go' })
      await untilAttempt(before, 1)
      await here.crash()
      const runtime = await here.open({ agents: { echo: () => 'done' } })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
      expect((task?.completedAt ?? 0) - (task?.startedAt ?? 0)).toBeLessThan(62_000)
      expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
    })

    it('has all the time that its question waits', async () => {
      const here = world()
      const rare = (ctx: AgentContext) => ctx.ask({ text: 'Really?' })
      const before = await here.open({ agents: { rare } })
      const { id } = await before.run({ thread: 't', agent: 'rare', prompt: 'go', timeoutMs: 60_000 })
      await here.quiet()
      await here.clock.advance(10_000)
      await here.crash()
      const runtime = await here.open()
      await here.clock.advance(100_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const [question] = await runtime.questions()
      await runtime.answer(question?.id ?? '', 'yes')
      await here.clock.advance(58_000)
      await here.quiet()
      expect(await runtime.get(id)).toMatchObject({ status: 'running' })
      const task = await inQuietTime(here, runtime.wait(id), 100)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
    })
  })
})
