import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { crashEverywhere, crashEverywhereTwice, crashTestMs, type Story } from './crash-everywhere.ts'
import { inQuietTime } from './quiet-time.ts'
import { onEachStore } from './world.ts'

/** Clients of one run that ask for it again after a crash, by its key. */
const askOnce: Story['clients'] = async (runtime) => {
  const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go', idempotencyKey: 'go' })
  await runtime.wait(id)
}

const sequence: Story = {
  agents: (executions) => ({
    worker: async (ctx: AgentContext) => {
      await ctx.say('begun ')
      await ctx.progress(0.1)
      const seen = await ctx.step('read', async () => {
        executions.note(ctx, 'read')
        await ctx.think('reading')
        // The same is said outside as well: what a step said is not taken for it.
        await ctx.say('begun ')
        await ctx.say('1 ')
        await ctx.usage({ tokens: 7 })
        return (await ctx.messages()).length
      })
      await ctx.say('between ')
      await ctx.usage({ tokens: 1 })
      const values: number[] = []
      for (const value of [1, 2, 3]) {
        const path = value === 1 ? 'loop' : `loop#${value}`
        values.push((await ctx.step('loop', () => executions.note(ctx, path, value * 10))) ?? 0)
        await ctx.say(`${value} `)
      }
      await ctx.answer({ values })
      await ctx.progress(0.9)
      await ctx.emit('done', { seen })
      return { seen, values }
    },
  }),
  clients: askOnce,
}

/** Outer steps speak only after their inner ones: what they say before is said again, and then comes later. */
const nested: Story = {
  agents: (executions) => ({
    worker: async (ctx: AgentContext) => {
      await ctx.say('top ')
      const note = (path: string, value = 0) => executions.note(ctx, path, value) ?? 0
      const value = await ctx.step('outer', async () => {
        note('outer')
        const first = await ctx.step('inner', async () => {
          note('outer/inner')
          await ctx.say('first ')
          return 1
        })
        const second = await ctx.step('inner', async () => {
          note('outer/inner#2')
          const deepest = await ctx.step('deepest', () => note('outer/inner#2/deepest', 2))
          await ctx.say('second ')
          return deepest
        })
        await ctx.say('outer ')
        return first + second
      })
      await ctx.say('after ')
      const caught = await ctx
        .step('failing', async () => {
          note('failing')
          await ctx.step('inside', () => note('failing/inside'))
          await ctx.say('failing ')
          throw Object.assign(new RangeError('too far'), { code: 'E_FAR' })
        })
        .catch((error: RangeError & { code: string }) => [error.name, error.message, error.code])
      await ctx.say('end')
      return { value, caught }
    },
  }),
  clients: askOnce,
}

/** An outer step that speaks before its inner ones says it again after them: all is said once, in another order. */
const outerFirst: Story = {
  isParallel: true,
  agents: (executions) => ({
    worker: async (ctx: AgentContext) => {
      await ctx.step('outer', async () => {
        executions.note(ctx, 'outer')
        await ctx.say('outer ')
        await ctx.step('inner', async () => {
          executions.note(ctx, 'outer/inner')
          await ctx.say('inner ')
        })
        await ctx.say('between ')
        await ctx.step('inner', async () => {
          executions.note(ctx, 'outer/inner#2')
          await ctx.say('inner ')
        })
      })
    },
  }),
  clients: askOnce,
}

const tools: Story = {
  agents: (executions) => ({
    worker: async (ctx: AgentContext) => {
      await ctx.say('asking ')
      const found = await ctx.tool('search', { for: 'it' }, async ({ id }) => {
        executions.note(ctx, 'search')
        await ctx.sleep(20)
        return { hit: id.split(':')[1] }
      })
      await ctx.say('found ')
      const lost = await ctx
        .tool('fetch', { page: 1 }, () => {
          executions.note(ctx, 'fetch')
          throw new Error('no such page')
        })
        .catch((error: Error) => error.message)
      await ctx.tool('search', { for: 'more' }, () => executions.note(ctx, 'search#2'))
      return { found, lost }
    },
  }),
  clients: askOnce,
}

/** Every attempt sees the conversation as it was when its run started: what came before, and its own prompt. */
const conversation: Story = {
  agents: (executions) => ({
    worker: async (ctx: AgentContext, input: string) => {
      const note = async () => executions.noteSame(ctx, 'messages', await ctx.messages())
      await note()
      await ctx.step('one', () => ctx.say(`one ${input} `))
      await note()
      await ctx.step('two', () => ctx.say(`two ${input}`))
      return (await ctx.messages()).map(({ role, parts }) => [role, parts])
    },
  }),
  clients: async (runtime) => {
    const first = await runtime.run({ thread: 't', agent: 'worker', prompt: 'first', idempotencyKey: '1' })
    const second = await runtime.run({ thread: 't', agent: 'worker', prompt: 'second', idempotencyKey: '2' })
    await Promise.all([runtime.wait(first.id), runtime.wait(second.id)])
  },
}

onEachStore(['memory', 'sqlite'], (kind, world) => {
  it('what a step emitted last is committed with its record', async () => {
    const here = world()
    const agents = {
      worker: async (ctx: AgentContext) => {
        await ctx.step('spoken', async () => {
          await ctx.say('first ')
          await ctx.sleep(10)
          await ctx.say('last')
          await ctx.emit('done')
        })
      },
    }
    const runtime = await here.open({ agents })
    const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    await inQuietTime(here, runtime.wait(id))
    const recording = here.committed.find((unit) => unit.steps?.some(({ key }) => key === 'spoken'))
    expect(recording?.events.map(({ type, step }) => [type, step])).toEqual([
      ['text.delta', 'spoken'],
      ['custom', 'spoken'],
    ])
  })

  it('the steps of a task are forgotten when it has ended', async () => {
    const here = world()
    const runtime = await here.open({ agents: { worker: (ctx: AgentContext) => ctx.step('one', () => 1) } })
    const { id } = await runtime.run({ thread: 't', agent: 'worker', prompt: 'go' })
    await runtime.wait(id)
    expect(await here.store.steps(id)).toEqual([])
  })

  it('what a task reported stays with it when it ends', async () => {
    const reporting = async (ctx: AgentContext) => {
      await ctx.usage({ tokens: 1, calls: 1 })
      await ctx.progress(0.5)
      await ctx.usage({ tokens: 2 })
      throw new Error('no more')
    }
    const runtime = await world().open({ agents: { reporting } })
    const { id } = await runtime.run({ thread: 't', agent: 'reporting', prompt: 'go' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', progress: 0.5, usage: { tokens: 3, calls: 1 } })
  })

  describe('wherever its process dies', () => {
    it.each([
      ['REST-13 EVNT-06 a sequence of steps', sequence],
      ['REST-13 a nest of steps', nested],
      ['REST-13 a nest of steps that speak before their inner ones', outerFirst],
      ['REST-13 a run that calls tools', tools],
      ['REST-13 a queue of runs, each seeing the conversation as it was at its start,', conversation],
    ])('%s comes out as if it had not', (_title, story) => crashEverywhere(kind, story), crashTestMs)

    const small: [string, Story][] = [['a sequence of steps', sequence]]
    const larger: [string, Story][] = [
      ['a nest of steps', nested],
      ['a run that calls tools', tools],
    ]
    it.each(kind === 'memory' ? [...small, ...larger] : small)(
      'REST-13 EVNT-06 %s comes out as if it had not, when the next process dies as well',
      (_title, story) => crashEverywhereTwice(kind, story),
      crashTestMs,
    )
  })
})
