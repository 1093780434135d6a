import { describe, expect, it } from 'vitest'
import { type AgentContext, failed, type Task } from '../../src/index.ts'
import { eventsUntil, onEachStore, type World } from './world.ts'

type Code = (ctx: AgentContext, executed: (what: string) => string) => Promise<unknown>

/** Runs code until it says that it waits, kills the process, and lets the next one go on with other code. */
async function resumedWith(here: World, before: Code, after: Code): Promise<{ task: Task; executed: string[] }> {
  const executed: string[] = []
  const note = (what: string) => {
    executed.push(what)
    return what
  }
  const agent = (code: Code, version: string) => ({ run: (ctx: AgentContext) => code(ctx, note), version })
  const runtime = await here.open({ agents: { changing: agent(before, 'v1') } })
  const { id } = await runtime.run({ thread: 't', agent: 'changing', prompt: 'go' })
  await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom' && event.data.name === 'waiting')
  await here.crash()
  executed.length = 0
  const next = await here.open({ agents: { changing: agent(after, 'v2') } })
  const task = await next.wait(id)
  if (!task) throw new Error('The task is gone')
  return { task, executed }
}

async function waits(ctx: AgentContext): Promise<never> {
  await ctx.emit('waiting')
  return new Promise<never>(() => {})
}

const twoSteps: Code = async (ctx, executed) => {
  await ctx.say('so far ')
  await ctx.step('one', () => executed('one'))
  await ctx.tool('look', { at: 'this' }, () => executed('look'))
  return waits(ctx)
}

function expectMismatch({ task, executed }: { task: Task; executed: string[] }, about: string): void {
  expect(task).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' }, partial: true })
  expect(task.error?.message).toContain(about)
  expect(task.error?.message).toContain('version v1')
  expect(task.error?.message).toContain('version v2')
  expect(executed).toEqual([])
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  describe('of a sequence of steps', () => {
    it('REST-15 a renamed step is a mismatch before anything runs', async () => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await ctx.step('uno', () => executed('uno'))
      })
      expectMismatch(outcome, 'step "uno" (step) is new, but step "one" (step) is recorded')
    })

    it('a step of another kind is a mismatch before anything runs', async () => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await ctx.tool('one', {}, () => executed('one'))
      })
      expectMismatch(outcome, 'step "one" is recorded as step, but is now tool')
    })

    it('a tool with another input is a mismatch before anything runs', async () => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await ctx.step('one', () => executed('one'))
        await ctx.tool('look', { at: 'that' }, () => executed('look'))
      })
      expectMismatch(outcome, 'step "look" (tool) is recorded with another input')
    })

    it('a step that is not taken any more is a mismatch', async () => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await ctx.step('one', () => executed('one'))
      })
      expectMismatch(outcome, 'step "look" (tool) is recorded, but was never asked for')
    })

    it('a new step before recorded ones is a mismatch before it runs', async () => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await ctx.step('zero', () => executed('zero'))
        return twoSteps(ctx, executed)
      })
      expectMismatch(outcome, 'step "zero" (step) is new')
    })

    it.each<[string, (ctx: AgentContext) => Promise<unknown>]>([
      ['child', (ctx) => ctx.spawn({ agent: 'changing', name: 'other' })],
      ['wait', (ctx) => ctx.sleep(1)],
      ['read', (ctx) => ctx.receive()],
    ])('a new %s before recorded ones is a mismatch too', async (_what, act) => {
      const outcome = await resumedWith(world(), twoSteps, async (ctx, executed) => {
        await act(ctx)
        return twoSteps(ctx, executed)
      })
      expectMismatch(outcome, 'is new')
    })

    it('a recorded step that went missing inside one taken again is a mismatch before that is recorded', async () => {
      const before: Code = async (ctx, executed) => {
        await ctx.say('so far ')
        return ctx.step('outer', async () => {
          await ctx.step('inner', () => executed('inner'))
          return waits(ctx)
        })
      }
      const outcome = await resumedWith(world(), before, async (ctx) => {
        await ctx.say('so far ')
        await ctx.step('outer', () => 'empty')
      })
      expectMismatch(outcome, 'step "outer/inner" (step) is recorded, but was never asked for')
    })

    it('a new step after the recorded ones is none', async () => {
      const { task, executed } = await resumedWith(world(), twoSteps, async (ctx, note) => {
        await ctx.say('so far ')
        await ctx.step('one', () => note('one'))
        await ctx.tool('look', { at: 'this' }, () => note('look'))
        return ctx.step('three', () => note('three'))
      })
      expect(task).toMatchObject({ status: 'completed', result: 'three', attempt: 2 })
      expect(executed).toEqual(['three'])
    })

    it('what an agent makes of a mismatch changes nothing', async () => {
      const swallow: Code = async (ctx) => {
        await ctx.step('uno', () => 1).catch(() => {})
        return 'all is well'
      }
      const wrap: Code = async (ctx) => {
        await ctx.step('uno', () => 1).catch((cause: unknown) => Promise.reject(new Error('oh', { cause })))
      }
      const state: Code = async (ctx) => {
        await ctx.step('uno', () => 1).catch(() => {})
        return failed('I gave up')
      }
      for (const after of [swallow, wrap, state]) expectMismatch(await resumedWith(world(), twoSteps, after), '"uno"')
    })
  })

  describe('of steps side by side', () => {
    const sideBySide =
      (keys: readonly string[], end: (ctx: AgentContext) => Promise<unknown>): Code =>
      async (ctx, executed) => {
        await ctx.say('so far ')
        await Promise.all(keys.map((key) => ctx.step(key, () => executed(key))))
        return end(ctx)
      }

    it('REST-15 another order is no mismatch', async () => {
      const after = sideBySide(['three', 'one', 'two'], async () => 'done')
      const { task, executed } = await resumedWith(world(), sideBySide(['one', 'two', 'three'], waits), after)
      expect(task).toMatchObject({ status: 'completed', result: 'done' })
      expect(executed).toEqual([])
    })

    it('REST-15 a new one among them is no mismatch', async () => {
      const after = sideBySide(['new', 'two', 'one'], async () => 'done')
      const { task, executed } = await resumedWith(world(), sideBySide(['one', 'two'], waits), after)
      expect(task).toMatchObject({ status: 'completed', result: 'done' })
      expect(executed).toEqual(['new'])
    })

    it('REST-15 one that was renamed is a mismatch at the end', async () => {
      const after = sideBySide(['uno', 'two'], async () => 'done')
      const { task } = await resumedWith(world(), sideBySide(['one', 'two'], waits), after)
      expect(task).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } })
      expect(task.error?.message).toContain('step "one" (step) is recorded, but was never asked for')
    })
  })
})
