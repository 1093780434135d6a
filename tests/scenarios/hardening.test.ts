import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { untilStopped } from './bodies.ts'
import { gate, onEachStore, type World } from './world.ts'

type Bad = (ctx: AgentContext) => unknown

const nonsense = <Value>(value: unknown): Value => value as Value

/** What a run says that first does something wrong, and catches what comes of it. */
async function saidAfter(world: World, bad: Bad): Promise<{ thrown: unknown; parts: unknown }> {
  let thrown: unknown
  const runtime = await world.open({
    agents: {
      async a(ctx: AgentContext) {
        try {
          await bad(ctx)
        } catch (error) {
          thrown = error
        }
        await ctx.say('one ')
        await ctx.step('s', () => 1)
        await ctx.say('two')
      },
    },
  })
  const { id } = await runtime.run({ thread: 't', agent: 'a', prompt: 'go' })
  expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  return { thrown, parts: (await runtime.messages('t')).at(-1)?.parts }
}

/** A task whose agent took a step and was then killed, begun again by another agent of that name. */
async function begunAgain(world: World, agent: (ctx: AgentContext) => Promise<unknown>): Promise<[Runtime, string]> {
  const taken = gate()
  const first = await world.open({
    agents: {
      async a(ctx: AgentContext) {
        await ctx.step('recorded', () => 1)
        taken.open()
        await untilStopped(ctx)
      },
    },
  })
  const { id } = await first.spawn({ thread: 't', agent: 'a' })
  await taken.opened
  await world.crash()
  return [await world.open({ agents: { a: agent } }), id]
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it.each<[string, Bad]>([
    ['usage of nothing', (ctx) => ctx.usage(nonsense(null))],
    ['usage in words', (ctx) => ctx.usage(nonsense({ tokens: 'many' }))],
    ['usage that is no number', (ctx) => ctx.usage({ tokens: Number.NaN })],
    ['progress as text', (ctx) => ctx.progress(nonsense('0.5'))],
    ['a note that is no text', (ctx) => ctx.progress(0.5, nonsense({}))],
    ['to say an object', (ctx) => ctx.say(nonsense({ text: 'x' }))],
    ['to say nothing at all', (ctx) => ctx.say(nonsense(undefined))],
    ['to think a number', (ctx) => ctx.think(nonsense(5))],
    ['an event without a name', (ctx) => ctx.emit(nonsense(undefined), 1)],
    ['to sleep NaN', (ctx) => ctx.sleep(Number.NaN)],
    ['to sleep for ever', (ctx) => ctx.sleep(Number.POSITIVE_INFINITY)],
    ['to sleep a text', (ctx) => ctx.sleep(nonsense('5'))],
    ['a timeout of NaN', (ctx) => ctx.receive({ timeoutMs: Number.NaN })],
    ['a timeout of text', (ctx) => ctx.receive({ timeoutMs: nonsense('5') })],
    ['to wait for an object', (ctx) => ctx.wait(nonsense({}))],
    ['to wait for undefined', (ctx) => ctx.wait(nonsense(undefined))],
  ])('%s is refused to the agent, and what it says is said once', async (_what, bad) => {
    const { thrown, parts } = await saidAfter(world(), bad)
    expect(thrown).toMatchObject({ code: 'invalid_request' })
    expect(parts).toEqual([{ type: 'text', text: 'one two' }])
  })

  it('usage is counted under any name', async () => {
    const runtime = await world().open()
    const count = (ctx: AgentContext) => ctx.usage({ constructor: 2, tokens: 1 })
    const { id } = await runtime.spawn({ thread: 't', run: (ctx: AgentContext) => count(ctx).then(() => count(ctx)) })
    expect((await runtime.wait(id))?.usage).toEqual({ constructor: 4, tokens: 2 })
  })

  it('a receive without end waits for its message', async () => {
    const runtime = await world().open()
    const run = (ctx: AgentContext) => ctx.receive({ timeoutMs: Number.POSITIVE_INFINITY })
    const { id } = await runtime.spawn({ thread: 't', run })
    await runtime.send(id, { content: 'here' })
    expect((await runtime.wait(id))?.result).toMatchObject({ payload: { content: 'here' } })
  })

  it('an agent that tries a step again and again after a mismatch stops nobody, and its task fails', async () => {
    let tries = 0
    const [runtime, id] = await begunAgain(world(), async (ctx) => {
      for (;;) {
        // Far more than any number of turns, so that a loop which never leaves its turn fails instead of hanging.
        if (++tries > 100_000) throw new Error('the event loop was kept from everybody')
        await ctx.step('renamed', () => 1).catch(() => {})
        if (ctx.signal.aborted) return
      }
    })
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } })
    expect(tries).toBeLessThan(100)
  })

  it('an agent that catches a mismatch and never ends fails for it all the same', async () => {
    const [runtime, id] = await begunAgain(world(), async (ctx) => {
      await ctx.step('renamed', () => 1).catch(() => {})
      await new Promise(() => {})
    })
    expect(await runtime.wait(id)).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } })
  })

  it('what a task left waiting ends with it, and leaves no timer behind', async () => {
    const here = world()
    const runtime = await here.open()
    const left: Promise<unknown>[] = []
    const run = async (ctx: AgentContext) => {
      left.push(ctx.sleep(3_600_000), ctx.receive(), ctx.receive({ timeoutMs: 3_600_000 }), ctx.wait(ctx.taskId))
      await Promise.race([...left, ctx.step('s', () => 1)])
    }
    const { id } = await runtime.spawn({ thread: 't', run })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
    for (const ended of await Promise.allSettled(left)) {
      expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'task_terminated' } })
    }
  })

  it('a generator that goes on after its forced end is left, and may tidy up', async () => {
    const here = world()
    const tidied = gate()
    const runtime = await here.open({ graceMs: 50 })
    const run = async function* () {
      try {
        for (;;) {
          yield 'tick'
          await nextTurn()
        }
      } finally {
        tidied.open()
      }
    }
    const { id } = await runtime.spawn({ thread: 't', run })
    await runtime.cancel(id)
    await here.clock.advance(50)
    expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    await tidied.opened
  })

  it('an agent may be an object that knows itself', async () => {
    class Greeter {
      readonly greeting = 'hello'
      run() {
        return this.greeting
      }
    }
    const runtime = await world().open({ agents: { greeter: new Greeter() } })
    const { id } = await runtime.spawn({ thread: 't', agent: 'greeter' })
    expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 'hello' })
  })

  it('tasks that name the same parent each have their children', async () => {
    const runtime = await world().open({
      agents: {
        child: () => 'done',
        async parent(ctx: AgentContext) {
          await ctx.spawn({ agent: 'child' })
          await ctx.receive({ only: 'messages' })
        },
        other: (ctx: AgentContext, task: string) => ctx.spawn({ agent: 'child', parent: { task } }),
      },
    })
    const parent = await runtime.spawn({ thread: 't', agent: 'parent' })
    for (let i = 0; i < 2; i++) {
      const { id } = await runtime.spawn({ thread: 't', agent: 'other', input: parent.id })
      expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: { parent: { task: parent.id } } })
    }
    expect((await runtime.list({ parent: parent.id })).tasks).toHaveLength(3)
  })
})
