import { describe, expect, it } from 'vitest'
import { type AgentContext, cancelled } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { forever, untilStopped } from './bodies.ts'
import { eventsUntil, logOf, onEachStore } from './world.ts'

const graceMs = 5_000

/** Owns a child at work, and ends by its signal as that does. */
async function parent(ctx: AgentContext): Promise<void> {
  await ctx.spawn({ agent: 'untilStopped', name: 'child' })
  await untilStopped(ctx)
}

const agents = { untilStopped, forever, parent }

async function started(runtime: Runtime, agent: string): Promise<string> {
  const { id } = await runtime.run({ thread: 't', agent, prompt: 'go' })
  await eventsUntil(runtime, { thread: 't', task: id }, ({ type }) => type === 'task.started')
  return id
}

async function errorOf(runtime: Runtime, id: string): Promise<string | undefined> {
  const { error } = (await runtime.wait(id)) ?? {}
  const log = await logOf(runtime, 't')
  expect(log.findLast(({ task }) => task === id)).toMatchObject({ type: 'task.cancelled', data: { error } })
  return error?.message
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('the error of a cancelled task', () => {
    it.each([
      ['wrong file', 'The task was cancelled by owner: wrong file'],
      [{ reason: 'wrong file' }, 'The task was cancelled by owner: wrong file'],
      [{}, 'The task was cancelled by owner'],
      [undefined, 'The task was cancelled by owner'],
    ])('says who cancelled it, and why: %j', async (reason, message) => {
      const runtime = await world().open({ agents })
      const id = await started(runtime, 'untilStopped')
      await runtime.cancelTree(id, reason)
      expect(await errorOf(runtime, id)).toBe(message)
    })

    it('says so of one that had not started', async () => {
      const runtime = await world().open({ agents })
      await started(runtime, 'untilStopped')
      const { id } = await runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'go' })
      await runtime.cancel(id, { reason: 'wrong file' })
      expect(await errorOf(runtime, id)).toBe('The task was cancelled by owner: wrong file')
    })

    it('says so of one that was ended by force', async () => {
      const here = world()
      const runtime = await here.open({ agents, graceMs })
      const id = await started(runtime, 'forever')
      await runtime.cancel(id, 'wrong file')
      await here.clock.advance(graceMs)
      expect(await errorOf(runtime, id)).toBe(
        'The task was cancelled by owner: wrong file; it did not end within the grace time, and was ended by force',
      )
    })

    it('says so after a crash between the cancel and the end', async () => {
      const here = world()
      const first = await here.open({ agents })
      const id = await started(first, 'forever')
      await first.cancel(id, 'wrong file')
      await here.crash()
      expect(await errorOf(await here.open({ agents }), id)).toBe('The task was cancelled by owner: wrong file')
    })

    it('says of a child that was cancelled with its parent only that it was cancelled', async () => {
      const runtime = await world().open({ agents })
      const id = await started(runtime, 'parent')
      await eventsUntil(runtime, { thread: 't' }, ({ type, task }) => type === 'task.started' && task !== id)
      const [, child = ''] = (await runtime.cancelTask(id, { reason: 'wrong file' })) ?? []
      expect(await errorOf(runtime, child)).toBe('The task was cancelled')
      expect(await errorOf(runtime, id)).toBe('The task was cancelled by owner: wrong file')
    })

    it('says what its agent says of it, where that says something', async () => {
      const ending = (ctx: AgentContext) => untilStopped(ctx).catch(() => cancelled('cancelled on page 3'))
      const runtime = await world().open({ agents: { ending } })
      const id = await started(runtime, 'ending')
      await runtime.cancel(id, 'wrong file')
      expect(await errorOf(runtime, id)).toBe('cancelled on page 3')
    })

    it('is all that people are told of it', async () => {
      const runtime = await world().open({ agents })
      const id = await started(runtime, 'untilStopped')
      await runtime.cancel(id, 'wrong file')
      const { error: _error, ...rest } = (await runtime.wait(id)) ?? {}
      expect(JSON.stringify(rest)).not.toContain('wrong file')
    })
  })
})
