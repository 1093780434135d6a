import { expect, it } from 'vitest'
import type { Unit } from '../../src/core/unit.ts'
import { type AgentContext, createInbox, type Event, type Logger, type Runtime } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { counterOf } from './counters.ts'
import { eventsOf, gate, logOf, onEachStore, type World } from './world.ts'

const thread = 't'
const failuresOf = (runtime: Runtime, operation: string) =>
  counterOf(runtime, 'holdfast_commit_failures_total', { operation })
const unavailable = { code: 'store_unavailable', facts: { retryAfterMs: 1000 } }

/** Lets the writer notice that the store is back. */
async function comeBack(here: World): Promise<void> {
  here.store.up()
  await here.clock.advance(2_000)
  await here.quiet()
}

/** A task that ends when told, on a store that is down by then. */
async function endInTheDark(here: World, runtime: Runtime) {
  const finish = gate<string>()
  const task = await runtime.spawn({ thread, run: () => finish.opened })
  here.store.down()
  finish.open('true outcome')
  await here.quiet()
  return task.id
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('says in the log, under err, why the store is not available', async () => {
    const here = world()
    const reasons: unknown[] = []
    const error: Logger['error'] = (facts) => reasons.push('err' in facts && facts.err)
    const runtime = await here.open({ log: { debug() {}, info() {}, warn() {}, error } })
    await endInTheDark(here, runtime)
    expect(reasons).toEqual([expect.objectContaining({ code: 'store_unavailable', message: expect.any(String) })])
    await comeBack(here)
  })

  it('REST-10 a commit whose answer does not come makes the node unready, and counts when it comes after all', async () => {
    const here = world()
    const runtime = await here.open()
    const { open, beLate, reached } = here.store.hold()
    const first = runtime.spawn({ thread, run: () => 1 })
    await reached
    const second = runtime.spawn({ thread, run: () => 2 })
    const refusal = expect(second).rejects.toMatchObject(unavailable)
    // However much of a clock that is moved by hand has passed, it is the store that says so.
    await here.clock.advance(60_000)
    expect(await runtime.isReady()).toBe(true)
    beLate()
    expect(await runtime.isReady()).toBe(false)
    await refusal
    await expect(runtime.spawn({ thread, run: () => 3 })).rejects.toMatchObject(unavailable)
    open()
    expect(await runtime.wait((await first).id)).toMatchObject({ status: 'completed', result: 1 })
    expect(await runtime.isReady()).toBe(true)
  })

  it('REST-10 a final commit that fails is counted by its operation, and no false outcome is shown to anybody', async () => {
    const here = world()
    const inbox = createInbox()
    const runtime = await here.open({ inbox })
    const seen: Event[] = []
    const watching = (async () => {
      for await (const event of runtime.subscribe({ thread })) seen.push(event)
    })()
    const before = await failuresOf(runtime, 'end')
    expect(await runtime.isReady()).toBe(true)
    const id = await endInTheDark(here, runtime)
    expect(await failuresOf(runtime, 'end')).toBe(before + 1)
    await here.clock.advance(1_000)
    expect(await failuresOf(runtime, 'end')).toBeGreaterThan(before + 1)
    expect(await runtime.isReady()).toBe(false)
    expect(await runtime.get(id)).toMatchObject({ status: 'running' })
    expect(await runtime.get(id)).not.toHaveProperty('result')
    expect(seen.map((event) => event.type)).toEqual(['task.accepted', 'task.started'])
    expect(inbox.drain()).toEqual([])
    expect(await runtime.hasRunning(thread)).toBe(true)
    await comeBack(here)
    await runtime.close()
    await watching
  })

  it('REST-12 that commit is retried: when the store comes back the true outcome is stored, once', async () => {
    const here = world()
    const inbox = createInbox()
    const runtime = await here.open({ inbox })
    const id = await endInTheDark(here, runtime)
    const waiting = runtime.wait(id)
    await here.clock.advance(60_000)
    await comeBack(here)
    expect(await waiting).toMatchObject({ status: 'completed', result: 'true outcome' })
    expect(await runtime.isReady()).toBe(true)
    const types = (await eventsOf(runtime, thread, id)).map((event) => event.type)
    expect(types).toEqual(['task.accepted', 'task.started', 'task.completed'])
    expect(here.committed.filter((unit) => unit.operation === 'end')).toHaveLength(1)
    expect(inbox.drain()).toEqual([{ kind: 'completed', taskId: id, result: 'true outcome' }])
  })

  it('REST-12 the retries leave a store that is down alone, ever longer, and for two seconds at most', async () => {
    const here = world()
    const runtime = await here.open()
    const dark = await endInTheDark(here, runtime)
    const triedAt: number[] = []
    here.store.plan(() => {
      triedAt.push(here.clock.now())
      return 'fail'
    })
    await here.clock.advance(20_000)
    const pauses = triedAt.slice(1).map((at, i) => at - (triedAt[i] ?? 0))
    expect(pauses.slice(0, 5)).toEqual([50, 100, 200, 400, 800])
    expect(new Set(pauses.slice(6))).toEqual(new Set([2_000]))
    await comeBack(here)
    expect(await runtime.wait(dark)).toMatchObject({ status: 'completed' })
  })

  it('REST-12 a process that dies before the store is back leaves no outcome, and the task goes on', async () => {
    const here = world()
    const agents = { brief: (ctx: AgentContext) => `attempt ${ctx.attempt}` }
    const runtime = await here.open({ agents }, (units) =>
      units.some((unit) => unit.operation === 'end') ? 'fail' : 'none',
    )
    const run = await runtime.run({ thread, agent: 'brief', prompt: 'go' })
    await here.quiet()
    await here.crash()
    const next = await here.open({ agents })
    expect(await next.wait(run.id)).toMatchObject({ status: 'completed', result: 'attempt 2' })
    const ends = (await eventsOf(next, thread, run.id)).filter((event) => event.type === 'task.completed')
    expect(ends).toHaveLength(1)
  })

  it('while the store is down every intent is refused as store_unavailable, and none of them is done later', async () => {
    const here = world()
    const agents = { slow: untilStopped }
    const runtime = await here.open({ agents })
    const task = await runtime.spawn({ thread, run: untilStopped })
    const done = await runtime.spawn({ thread, run: () => 'done' })
    await runtime.wait(done.id)
    const before = await logOf(runtime, thread)
    here.store.down()
    const intents = [
      () => runtime.spawn({ thread, run: () => 1 }),
      () => runtime.run({ thread, agent: 'slow', prompt: 'go' }),
      () => runtime.run({ thread, agent: 'slow', prompt: 'go', onBusy: 'interrupt' }),
      () => runtime.cancel(task.id),
      () => runtime.cancelThread(thread, { scope: 'all' }),
      () => runtime.send(task.id, { content: 'hello' }),
      () => runtime.collect(thread, [done.id]),
    ]
    // All at once: those that wait for a turn behind the one that fails are told as well, without a retry.
    const answers = await Promise.allSettled(intents.map((intent) => intent()))
    expect(answers).toEqual(intents.map(() => ({ status: 'rejected', reason: expect.objectContaining(unavailable) })))
    for (const intent of intents) await expect(intent()).rejects.toMatchObject(unavailable)
    await comeBack(here)
    expect(await logOf(runtime, thread)).toEqual(before)
    expect((await runtime.results(thread)).results).toHaveLength(1)
    expect(await runtime.spawn({ thread, run: () => 1 })).toMatchObject({ id: 'bg_2' })
  })

  it('a runtime with nothing to write finds out by itself that the store is back', async () => {
    const here = world()
    const runtime = await here.open()
    here.store.down()
    await expect(runtime.spawn({ thread, run: () => 1 })).rejects.toMatchObject(unavailable)
    expect(await runtime.isReady()).toBe(false)
    await here.clock.advance(30_000)
    expect(await runtime.isReady()).toBe(false)
    await comeBack(here)
    expect(await runtime.isReady()).toBe(true)
    const tries = here.store.commitCount
    await here.clock.advance(30_000)
    await here.quiet()
    expect(here.store.commitCount).toBe(tries)
  })

  it('intents are refused as well when it is reading that fails', async () => {
    const here = world()
    const runtime = await here.open()
    const { livePart } = here.store
    here.store.livePart = () => Promise.reject(new Error('the connection is gone'))
    await expect(runtime.spawn({ thread, run: () => 1 })).rejects.toMatchObject(unavailable)
    here.store.livePart = livePart
    await comeBack(here)
    const task = await runtime.spawn({ thread, run: () => 1 })
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'completed' })
  })

  it('what tasks emit and record while the store is down waits, and is stored once and in order', async () => {
    const here = world()
    const runtime = await here.open()
    const executed: string[] = []
    const text = 'x'.repeat(100_000)
    const goOn = gate()
    const run = async (ctx: AgentContext) => {
      await ctx.emit('n', 0)
      await goOn.opened
      for (let n = 1; n < 150; n++) void ctx.emit('n', n)
      // More than a task may have unflushed, were it not for the store.
      for (let n = 0; n < 100; n++) void ctx.say(text)
      const value = await ctx.step('once', async () => {
        executed.push(ctx.taskId)
        await ctx.emit('inside')
        return ctx.taskId
      })
      await ctx.emit('n', 150)
      return value
    }
    const tasks = await Promise.all([1, 2].map(() => runtime.spawn({ thread, run })))
    await here.quiet()
    here.store.down()
    await expect(runtime.spawn({ thread, run: () => 1 })).rejects.toMatchObject(unavailable)
    goOn.open()
    await here.clock.advance(120_000)
    expect((await logOf(runtime, thread)).filter((event) => event.type === 'custom')).toHaveLength(2)
    await comeBack(here)
    for (const { id } of tasks) {
      expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: id })
      const events = await eventsOf(runtime, thread, id)
      const emits = events.flatMap((event) => (event.type === 'custom' ? [event.data.payload ?? event.data.name] : []))
      expect(emits).toEqual([...Array.from({ length: 150 }, (_, n) => n), 'inside', 150])
      expect(events.filter((event) => event.type === 'text.delta')).toHaveLength(100)
    }
    expect(executed.toSorted()).toEqual(tasks.map((task) => task.id).toSorted())
  })

  it('a store that fails now and then makes no task end twice, wrongly or never', async () => {
    const here = world()
    const runtime = await here.open()
    let fate = 7
    const isUnlucky = () => {
      fate = (fate * 16807) % 2147483647
      return fate % 3 === 0
    }
    here.store.plan((units) => (units.every(isExecuting) && isUnlucky() ? 'fail' : 'none'))
    const run = async (ctx: AgentContext, input: { n: number }) => {
      for (let n = 0; n < 5; n++) await ctx.step('step', () => ctx.emit('n', n))
      if (input.n % 3 === 0) throw new Error(`thrown ${input.n}`)
      return input.n
    }
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push((await spawnPatiently(here, runtime, run, n)).id)
    for (let isLive = true; isLive; isLive = await runtime.hasRunning(thread)) {
      await here.clock.advance(1_000)
      await here.quiet()
    }
    for (const [n, id] of ids.entries()) {
      const status = n % 3 === 0 ? 'failed' : 'completed'
      expect(await runtime.get(id)).toMatchObject({ status })
      const events = await eventsOf(runtime, thread, id)
      const emits = events.flatMap((event) => (event.type === 'custom' ? [event.data.payload] : []))
      expect(emits).toEqual([0, 1, 2, 3, 4])
      expect(events.filter((event) => /^task\.(completed|failed|cancelled)$/.test(event.type))).toHaveLength(1)
    }
  })
})

function isExecuting(unit: Unit): boolean {
  return unit.fence !== undefined
}

/** Spawns again until the store takes it, as callers do. */
async function spawnPatiently(
  here: World,
  runtime: Runtime,
  run: (ctx: AgentContext, input: { n: number }) => unknown,
  n: number,
) {
  for (;;) {
    try {
      return await runtime.spawn({ thread, run, input: { n } })
    } catch (error) {
      expect(error).toMatchObject(unavailable)
      await here.clock.advance(100)
      await here.quiet()
    }
  }
}
