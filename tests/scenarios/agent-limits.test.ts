import { expect, it } from 'vitest'
import { type AgentContext, createRuntime, type Runtime } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { heldAgent } from './held-agent.ts'
import { gate, onEachStore } from './world.ts'

/** Counts how much of its code runs at once. */
function busy() {
  const seen = { now: 0, most: 0 }
  return {
    seen,
    async work<Value>(code: () => Promise<Value>): Promise<Value> {
      seen.now += 1
      seen.most = Math.max(seen.most, seen.now)
      try {
        return await code()
      } finally {
        seen.now -= 1
      }
    },
  }
}

const spawnMany = (runtime: Runtime, agent: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => runtime.spawn({ thread: `t${n}`, agent, input: n })))

onEachStore(['memory', 'sqlite'], (store, world) => {
  it('an agent executes as many tasks at once as it says, and the others when those have ended', async () => {
    const { seen, work } = busy()
    const pause = gate()
    const order: number[] = []
    const run = (_ctx: AgentContext, n: number) => {
      order.push(n)
      return work(() => pause.opened)
    }
    const here = world()
    const runtime = await here.open({ agents: { few: { run, concurrency: 3 } } })
    const tasks = []
    for (let n = 0; n < 12; n++) tasks.push(await runtime.spawn({ thread: `t${n}`, agent: 'few', input: n }))
    await here.quiet()
    expect(seen).toEqual({ now: 3, most: 3 })
    expect((await runtime.list({ status: ['pending'] })).tasks).toHaveLength(9)
    pause.open()
    for (const { id } of tasks) expect(await runtime.wait(id)).toMatchObject({ status: 'completed', attempt: 1 })
    expect(seen.most).toBe(3)
    // A thread that a commit has locked is passed over there for a moment.
    if (store !== 'postgres') expect(order).toEqual(tasks.map((_, n) => n))
  })

  it('what waits for an agent that is full holds up no other agent, also where it would fill every slot', async () => {
    const stop = gate()
    const agents = { full: { run: () => stop.opened, concurrency: 1 }, other: () => 'done' }
    const here = world()
    const runtime = await here.open({ agents, concurrency: 2 })
    const waiting = await spawnMany(runtime, 'full', 40)
    const others = await spawnMany(runtime, 'other', 10)
    for (const { id } of others) expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
    expect((await runtime.list({ status: ['running'] })).tasks).toHaveLength(1)
    stop.open()
    for (const { id } of waiting) expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('a task that waits takes no place: a tree of one agent that may execute once at a time ends', async () => {
    const { seen, work } = busy()
    const nest = async (ctx: AgentContext, depth: number): Promise<number> => {
      const children = await work(async () => {
        if (depth >= 4) return []
        return Promise.all([1, 2].map(() => ctx.spawn({ agent: 'nest', input: depth + 1 })))
      })
      const ends = await Promise.all(children.map(({ id }) => ctx.wait(id)))
      return ends.reduce((sum, { answer }) => sum + (answer as number), 1)
    }
    const runtime = await world().open({ agents: { nest: { run: nest, concurrency: 1 } } })
    const root = await runtime.spawn({ thread: 't', agent: 'nest', input: 0 })
    expect(await runtime.wait(root.id)).toMatchObject({ status: 'completed', result: 2 ** 5 - 1 })
    expect(seen.most).toBe(1)
  })

  it('a task that goes on comes before those that have not begun', async () => {
    const order: string[] = []
    const held = heldAgent()
    const agents = {
      one: {
        concurrency: 1,
        async run(ctx: AgentContext, name: string) {
          if (name === 'first') await ctx.receive()
          else await held.run(ctx, name)
          order.push(name)
        },
      },
    }
    const here = world()
    const runtime = await here.open({ agents })
    const spawn = (name: string) => runtime.spawn({ thread: name, agent: 'one', input: name })
    const first = await spawn('first')
    await here.quiet()
    const rest = [await spawn('second'), await spawn('third')]
    await held.started('second')
    await runtime.send(first.id, { content: 'go on' })
    await here.quiet()
    held.release('second')
    held.release('third')
    for (const { id } of [first, ...rest]) await runtime.wait(id)
    expect(order).toEqual(['second', 'first', 'third'])
  })

  it('a task that waits and is cancelled puts its things away though its agent has no place for it', async () => {
    const held = heldAgent()
    let isTidy = false
    const agents = {
      one: {
        concurrency: 1,
        async run(ctx: AgentContext, name: string) {
          if (name !== 'waits') return void (await held.run(ctx, name))
          try {
            await ctx.receive()
          } finally {
            isTidy = true
          }
        },
      },
    }
    const here = world()
    const runtime = await here.open({ agents })
    const waits = await runtime.spawn({ thread: 'a', agent: 'one', input: 'waits' })
    await here.quiet()
    const works = await runtime.spawn({ thread: 'b', agent: 'one', input: 'works' })
    await held.started('works')
    await runtime.cancel(waits.id)
    const ended = await runtime.wait(waits.id)
    expect([ended?.status, ended?.error?.code, isTidy]).toEqual(['cancelled', 'cancelled', true])
    held.release('works')
    expect(await runtime.wait(works.id)).toMatchObject({ status: 'completed' })
  })

  it('a limit of all agents holds for each that states none of its own', async () => {
    const stop = gate()
    const run = () => stop.opened
    const here = world()
    const runtime = await here.open({
      agents: { plain: run, wider: { run, concurrency: 4 } },
      limits: { executingTasksPerAgent: 2 },
    })
    await spawnMany(runtime, 'plain', 6)
    await spawnMany(runtime, 'wider', 6)
    const functions = Array.from({ length: 3 }, (_, n) => runtime.spawn({ thread: `f${n}`, run }))
    await Promise.all(functions)
    await here.quiet()
    const { tasks } = await runtime.list({ status: ['running'] })
    const count = (agent?: string) => tasks.filter((task) => task.agent === agent).length
    expect([count('plain'), count('wider'), count()]).toEqual([2, 4, 3])
    stop.open()
  })

  it('a crash frees the places of what ran, and what is taken up again keeps to the limit', async () => {
    const { seen, work } = busy()
    const stop = gate()
    const here = world()
    const few = {
      concurrency: 2,
      async run(ctx: AgentContext) {
        await ctx.step('begun', () => 1)
        await ctx.sleep(1_000)
        await work(() => stop.opened)
      },
    }
    const before = await here.open({ agents: { few } })
    const tasks = await spawnMany(before, 'few', 8)
    await expect.poll(async () => (await before.list({ status: ['running'] })).tasks.length).toBe(8)
    await here.clock.advance(1_000)
    await here.quiet()
    expect(seen.most).toBe(2)
    await here.crash()
    seen.now = 0
    const after = await here.open({ agents: { few } })
    await here.clock.advance(2_000)
    await here.quiet()
    expect(seen).toEqual({ now: 2, most: 2 })
    stop.open()
    for (const { id } of tasks) expect(await after.wait(id)).toMatchObject({ status: 'completed' })
    expect(seen.most).toBe(2)
  })

  it('a cancel reaches what waits for its agent, and what a crash left of an agent that is full', async () => {
    const here = world()
    const full = { run: untilStopped, concurrency: 1 }
    const before = await here.open({ agents: { full } })
    const [first, second] = [
      await before.spawn({ thread: 'a', agent: 'full' }),
      await before.spawn({ thread: 'b', agent: 'full' }),
    ]
    await here.quiet()
    expect(await before.cancel(second.id)).toBe(true)
    expect(await before.get(second.id)).toMatchObject({ status: 'cancelled' })
    await here.crash()
    const after = await here.open({ agents: { full } })
    await after.spawn({ thread: 'c', agent: 'full' })
    await here.quiet()
    expect(await after.cancel(first.id)).toBe(true)
    expect(await after.wait(first.id)).toMatchObject({ status: 'cancelled' })
  })

  it('a start that could not be committed gives its place back', async () => {
    const here = world()
    const runtime = await here.open({ agents: { one: { run: () => 'done', concurrency: 1 } } })
    here.store.plan((units) => (units.some(({ operation }) => operation === 'start') ? 'fail' : 'none'))
    const tasks = await spawnMany(runtime, 'one', 3)
    await here.quiet()
    here.store.plan(() => 'none')
    const statuses = async () => {
      await here.clock.advance(1_000)
      return (await Promise.all(tasks.map(({ id }) => runtime.get(id)))).map((task) => task?.status)
    }
    await expect.poll(statuses).toEqual(['completed', 'completed', 'completed'])
  })
})

it.each([0, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '4' as unknown as number])(
  'an agent that states a concurrency of %s is refused when the runtime is made',
  (concurrency) => {
    const refusal = expect.objectContaining({ code: 'invalid_request' })
    const agents = { odd: { run: () => 1, concurrency } }
    expect(() => createRuntime({ store: 'memory:', agents })).toThrow(refusal)
    const limits = { executingTasksPerAgent: concurrency }
    if (concurrency === Number.POSITIVE_INFINITY) return
    expect(() => createRuntime({ store: 'memory:', limits })).toThrow(refusal)
  },
)
