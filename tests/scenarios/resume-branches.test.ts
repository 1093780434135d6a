import { describe, expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { crashEverywhere, crashEverywhereTwice, crashTestMs, type Story } from './crash-everywhere.ts'
import type { Executions } from './resume-invariants.ts'
import { onEachStore } from './world.ts'

const askOnce: Story['clients'] = async (runtime) => {
  const { id } = await runtime.run({ thread: 't', agent: 'parent', prompt: 'go', idempotencyKey: 'go' })
  await runtime.wait(id)
}

/** A child with steps, a sleep and a result of its own. */
function child(note: Executions['note']) {
  return async (ctx: AgentContext, input: { name: string; ms: number }) => {
    await ctx.emit('begun', input)
    await ctx.step('work', async () => {
      note(ctx, 'work')
      await ctx.say(`${input.name} works `)
    })
    await ctx.sleep(input.ms)
    await ctx.step('finish', () => note(ctx, 'finish'))
    if (input.name === 'bad') throw new Error('the child failed')
    return `${input.name} is done`
  }
}

// Of several nodes one is left for a moment what it let wait, also if it died.
const leftMsMax = 75

/** Steps, sleeps, and children that are waited for, all side by side, with words before, between and after. */
const branches: Story = {
  isParallel: true,
  agents: (executions) => {
    const note: Executions['note'] = (...args) => executions.note(...args)
    return {
      child: child(note),
      parent: async (ctx: AgentContext) => {
        await ctx.say('begin ')
        const [stepped, slept, ended] = await Promise.all([
          (async () => {
            const one = await ctx.step('a1', async () => {
              note(ctx, 'a1')
              await ctx.say('a1 ')
              return 1
            })
            await ctx.say('a-between ')
            const two = await ctx.step('a2', async () => {
              note(ctx, 'a2')
              await ctx.say('a2-first ')
              await ctx.sleep(20)
              await ctx.say('a2-last ')
              return 2
            })
            return one + two
          })(),
          (async () => {
            await ctx.sleep(15)
            await ctx.say('b-awake ')
            return ctx.step('b', () => note(ctx, 'b', 'b'))
          })(),
          Promise.all(
            ['good', 'bad'].map(async (name) => {
              const { id } = await ctx.spawn({ agent: 'child', name, description: name, input: { name, ms: 25 } })
              const { status, answer, error } = await ctx.wait(id)
              await ctx.say(`${name}-ended `)
              return { status, answer, error }
            }),
          ),
        ])
        await ctx.say('end ')
        return { stepped, slept, ended }
      },
    }
  },
  clients: askOnce,
}

/** Children without names, spawned and waited for inside steps and one after the other. */
const children: Story = {
  agents: (executions) => {
    const note: Executions['note'] = (...args) => executions.note(...args)
    return {
      child: child(note),
      parent: async (ctx: AgentContext) => {
        const first = await ctx.spawn({ agent: 'child', description: 'first', input: { name: 'first', ms: 10 } })
        const second = await ctx.step('spawning', async () => {
          note(ctx, 'spawning')
          const task = await ctx.spawn({ agent: 'child', description: 'second', input: { name: 'second', ms: 20 } })
          return task.id
        })
        await ctx.say('spawned ')
        const ended = await ctx.wait(first.id)
        await ctx.say('waited ')
        const item = await ctx.receive()
        const again = await ctx.wait(second)
        return [ended.answer, item?.kind, again.answer]
      },
    }
  },
  clients: askOnce,
}

/** Branches that come to their tools and children, which have no names, in another order than they were begun in. */
const fanOut: Story = {
  isParallel: true,
  agents: (executions) => ({
    child: child((...args) => executions.note(...args)),
    parent: (ctx: AgentContext) => {
      const items = ['slow', 'quick', 'same', 'same']
      const branch = async (name: string, index: number) => {
        await ctx.step(`fetch-${index}`, () => ctx.sleep(name === 'slow' ? 20 : 5))
        const found = await ctx.tool('look', { for: name }, async ({ id }) => {
          await ctx.say(`${name} `)
          return [name, id.includes('look')]
        })
        const { id } = await ctx.spawn({ agent: 'child', input: { name, ms: 15 } })
        const { answer } = await ctx.wait(id)
        return [name, answer, found]
      }
      return Promise.all(items.map(branch))
    },
  }),
  clients: askOnce,
}

/** A task spawned into another thread is a root there, and so written in another unit than the step that spawned it. */
const elsewhere: Story = {
  agents: (executions) => ({
    child: child((...args) => executions.note(...args)),
    parent: async (ctx: AgentContext) => {
      const { id } = await ctx.spawn({ thread: 'u', agent: 'child', input: { name: 'abroad', ms: 10 } })
      await ctx.say('spawned ')
      const { answer } = await ctx.wait(id)
      return answer
    },
  }),
  clients: async (runtime) => {
    await askOnce(runtime)
    const { tasks } = await runtime.list({ thread: 'u' })
    expect(tasks.map(({ status, parent }) => [status, parent])).toEqual([['completed', undefined]])
  },
}

onEachStore(['memory', 'sqlite'], (kind) => {
  describe('wherever its process dies', () => {
    it.each([
      ['REST-15 REST-13 parallel branches come out as if it had not', branches],
      [
        'REST-15 branches and children take turns on a single slot',
        { ...branches, concurrency: 1, lateMsMax: kind === 'postgres' ? leftMsMax : 0 },
      ],
      ['REST-15 children are spawned once and waited for once', children],
      ['REST-15 each branch is given its own tool and child again', fanOut],
      ['REST-15 a task is spawned once into another thread', elsewhere],
    ])('%s', (_title, story) => crashEverywhere(kind, story), crashTestMs)
  })
})

onEachStore(['memory'], (kind) => {
  it(
    'REST-15 children are spawned once, wherever a process and the next one die',
    () => crashEverywhereTwice(kind, children),
    crashTestMs,
  )
})
