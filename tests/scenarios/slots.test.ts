import { expect, it } from 'vitest'
import type { AgentContext } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { gate, onEachStore } from './world.ts'

onEachStore(['memory', 'sqlite'], (store, world) => {
  it('300 parents that each wait for a child end on a node with 256 slots', async () => {
    const agents = {
      child: (_ctx: AgentContext, { n }: { n: number }) => n,
      parent: async (ctx: AgentContext, { n }: { n: number }) => {
        const child = await ctx.spawn({ agent: 'child', input: { n } })
        const { status, answer } = await ctx.wait(child.id)
        return { status, answer }
      },
    }
    const runtime = await world().open({ agents, concurrency: 256 })
    const spawned = await Promise.all(
      Array.from({ length: 300 }, (_, n) => runtime.spawn({ thread: `t${n % 10}`, agent: 'parent', input: { n } })),
    )
    const ended = await Promise.all(spawned.map(({ id }) => runtime.wait(id)))
    expect(ended.map((task) => task?.result)).toEqual(spawned.map((_, n) => ({ status: 'completed', answer: n })))
  })

  it('parents that wait in a tree eight deep end on a node with one slot', async () => {
    const nest = async (ctx: AgentContext, { depth }: { depth: number }): Promise<number> => {
      if (depth === 7) return 1
      const children = await Promise.all([1, 2].map(() => ctx.spawn({ agent: 'nest', input: { depth: depth + 1 } })))
      const ends = await Promise.all(children.map(({ id }) => ctx.wait(id)))
      return ends.reduce((sum, { answer }) => sum + (answer as number), 1)
    }
    const runtime = await world().open({ agents: { nest }, concurrency: 1 })
    const root = await runtime.spawn({ thread: 't', agent: 'nest', input: { depth: 0 } })
    expect(await runtime.wait(root.id)).toMatchObject({ status: 'completed', result: 2 ** 8 - 1 })
  })

  it('a function that finds no slot starts when one is free, in its turn, like a registered agent', async () => {
    const order: string[] = []
    const note = (name: string) => async () => {
      order.push(name)
    }
    const agents = { first: note('agent 1'), second: note('agent 2') }
    const runtime = await world().open({ agents, concurrency: 1 })
    const finish = gate()
    await runtime.spawn({ thread: 't', run: () => finish.opened })
    const waiting = [
      await runtime.spawn({ thread: 't', run: note('function 1') }),
      await runtime.spawn({ thread: 'u', run: note('function 2') }),
      await runtime.spawn({ thread: 't', agent: 'first' }),
      await runtime.spawn({ thread: 'u', agent: 'second' }),
    ]
    expect(waiting.map(({ status }) => status)).toEqual(Array(4).fill('pending'))
    finish.open()
    for (const { id } of waiting) expect(await runtime.wait(id)).toMatchObject({ status: 'completed', attempt: 1 })
    expect(order.toSorted()).toEqual(['agent 1', 'agent 2', 'function 1', 'function 2'])
    // A thread that a commit has locked is passed over there for a moment, so what is in another may come first.
    for (const kind of store === 'postgres' ? ['function'] : ['function', 'agent']) {
      expect(order.filter((name) => name.startsWith(kind))).toEqual([`${kind} 1`, `${kind} 2`])
    }
  })

  it.each(['functions', 'agents'])('many waiting %s do not keep one of the other kind from starting', async (many) => {
    const order: string[] = []
    const note = (name: string) => () => void order.push(name)
    const agents = { many: note('many'), one: note('one') }
    const runtime = await world().open({ agents, concurrency: 1 })
    const finish = gate()
    await runtime.spawn({ thread: 't', run: () => finish.opened })
    const spawn = (name: 'many' | 'one', isFunction: boolean) =>
      runtime.spawn({ thread: 't', ...(isFunction ? { run: agents[name] } : { agent: name }) })
    const waiting = Array.from({ length: 20 }, () => spawn('many', many === 'functions'))
    const last = await spawn('one', many === 'agents')
    await Promise.all(waiting)
    finish.open()
    await runtime.wait(last.id)
    expect(order.indexOf('one')).toBeLessThan(3)
  })

  it('a task that is cancelled while it waits for a slot takes none', async () => {
    const runtime = await world().open({ concurrency: 1 })
    const blocker = await runtime.spawn({ thread: 't', run: untilStopped })
    let isStarted = false
    const start = () => {
      isStarted = true
    }
    const cancelled = await runtime.spawn({ thread: 't', run: start })
    const next = await runtime.spawn({ thread: 't', run: () => 'next' })
    expect(await runtime.cancel(cancelled.id)).toBe(true)
    expect(await runtime.get(next.id)).toMatchObject({ status: 'pending' })
    await runtime.cancel(blocker.id)
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed', result: 'next' })
    expect(isStarted).toBe(false)
  })
})
