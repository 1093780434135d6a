import { expect, it } from 'vitest'
import { type AgentContext, type Event, isTerminal, type Task } from '../../src/index.ts'
import { untilStopped } from './bodies.ts'
import { eventsOf, eventsUntil, gate, logOf, onEachStore } from './world.ts'

function isTerminalType({ type }: Event): boolean {
  return ['task.completed', 'task.failed', 'task.cancelled'].includes(type)
}

/** Emits numbered ticks until its signal fires. */
async function tick(ctx: AgentContext): Promise<string> {
  for (let n = 0; !ctx.signal.aborted; n += 1) await ctx.emit('tick', { n })
  return 'this result is dropped'
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-01 cancel of a running task says true and the task ends cancelled', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: untilStopped })
    expect(await runtime.cancel(task.id, 'no longer needed')).toBe(true)
    const events = await eventsOf(runtime, 't', task.id)
    expect(events.map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'task.cancelling',
      'task.cancelled',
    ])
    expect(events.at(2)?.data).toEqual({ by: 'owner', reason: 'no longer needed' })
    const ended = await runtime.get(task.id)
    expect(ended).toMatchObject({
      status: 'cancelled',
      error: { code: 'cancelled', message: expect.stringMatching(/cancelled/) },
    })
    expect(ended?.cancelRequestedAt).toBe(events.at(2)?.at)
    expect(ended).not.toHaveProperty('result')
  })

  it('a cancel is a fact, not a request: what the code returns or throws after it changes nothing', async () => {
    const runtime = await world().open()
    const endings = {
      returns: () => 'a result',
      throws: () => {
        throw new Error('an error')
      },
    }
    for (const ending of Object.values(endings)) {
      const stopped = gate()
      const run = async (ctx: AgentContext) => {
        await untilStopped(ctx).catch(stopped.open)
        return ending()
      }
      const task = await runtime.spawn({ thread: 't', run })
      expect(await runtime.cancel(task.id)).toBe(true)
      await stopped.opened
      const ended = await runtime.wait(task.id)
      expect(ended).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } })
      expect(ended).not.toHaveProperty('result')
    }
  })

  it('a cancel that is asked for again says true, and the log has it once', async () => {
    const runtime = await world().open()
    const finish = gate()
    const task = await runtime.spawn({ thread: 't', run: () => finish.opened })
    const together = await Promise.all([1, 2, 3].map((n) => runtime.cancel(task.id, `reason ${n}`)))
    const again = await runtime.cancel(task.id, 'reason 4')
    expect([...together, again]).toEqual([true, true, true, true])
    expect([await runtime.cancelTree(task.id), await runtime.cancelAll('t')]).toEqual([1, 1])
    finish.open()
    const events = await eventsOf(runtime, 't', task.id)
    const cancelling = events.filter(({ type }) => type === 'task.cancelling')
    expect(cancelling.map(({ data }) => data)).toEqual([{ by: 'owner', reason: 'reason 1' }])
    expect(events.at(-1)?.type).toBe('task.cancelled')
  })

  it('CANC-02 cancel of an unknown id says false', async () => {
    const runtime = await world().open()
    expect(await runtime.cancel('bg_7')).toBe(false)
    expect(await runtime.cancelTree('bg_7')).toBe(0)
    expect(await runtime.cancelAll('never-used')).toBe(0)
    expect(await runtime.cancelThread('never-used')).toEqual([])
    expect((await runtime.threads()).threads).toEqual([])
  })

  it("a cancel of another principal's task says false and does nothing", async () => {
    const runtime = await world().open()
    const task = await runtime.as('alice').spawn({ thread: 't', run: untilStopped })
    expect(await runtime.as('bob').cancel(task.id)).toBe(false)
    expect(await runtime.as('bob').cancelTree(task.id)).toBe(0)
    expect(await runtime.as('bob').cancelAll('t')).toBe(0)
    expect((await logOf(runtime.as('alice'), 't')).map(({ type }) => type)).toEqual(['task.accepted', 'task.started'])
  })

  it('CANC-03 cancel of a finished task says false and changes nothing, not even its conversation', async () => {
    const agents = { saying: (ctx: AgentContext) => ctx.say('done'), failing: () => Promise.reject(new Error('no')) }
    const runtime = await world().open({ agents })
    const runs = [
      await runtime.run({ thread: 't', agent: 'saying', prompt: 'a' }),
      await runtime.run({ thread: 't', agent: 'failing', prompt: 'b' }),
    ]
    for (const { id } of runs) await runtime.wait(id)
    const before = [await runtime.thread('t'), await logOf(runtime, 't')]
    for (const { id } of runs) {
      expect(await runtime.cancel(id)).toBe(false)
      expect(await runtime.cancelTree(id)).toBe(0)
    }
    expect(await runtime.cancelAll('t')).toBe(0)
    expect(await runtime.cancelThread('t')).toEqual([])
    expect([await runtime.thread('t'), await logOf(runtime, 't')]).toEqual(before)
  })

  it('CANC-05 cancelAll cancels the live tasks of its thread, says how many, and leaves other threads alone', async () => {
    const runtime = await world().open({ concurrency: 3 })
    const done = await runtime.spawn({ thread: 't', run: () => 'done' })
    await runtime.wait(done.id)
    const spawn = (thread: string) => runtime.spawn({ thread, run: untilStopped })
    const other = await spawn('u')
    const mine = [await spawn('t'), await spawn('t'), await spawn('t')]
    expect(mine.map(({ status }) => status)).toEqual(['running', 'running', 'pending'])
    expect(await runtime.cancelAll('t')).toBe(3)
    for (const { id } of mine) expect(await runtime.wait(id)).toMatchObject({ status: 'cancelled' })
    expect(await runtime.get(done.id)).toMatchObject({ status: 'completed' })
    expect(await runtime.get(other.id)).toMatchObject({ status: 'running' })
    expect(await runtime.hasRunning('t')).toBe(false)
  })

  it('CANC-06 cancelling the blocked tasks leaves the finished ones completed, and the counts add up', async () => {
    const runtime = await world().open()
    const spawned: Task[] = []
    for (let n = 0; n < 10; n += 1) {
      spawned.push(await runtime.spawn({ thread: 't', run: n % 2 === 0 ? untilStopped : () => n }))
    }
    const finishing = spawned.filter((_, n) => n % 2 === 1)
    for (const { id } of finishing) await runtime.wait(id)
    const answers = await Promise.all(spawned.map(({ id }) => runtime.cancel(id)))
    expect(answers).toEqual(spawned.map((_, n) => n % 2 === 0))
    const ended = await Promise.all(spawned.map(({ id }) => runtime.wait(id)))
    expect(ended.map((task) => task?.status)).toEqual(spawned.map((_, n) => (n % 2 === 0 ? 'cancelled' : 'completed')))
    const count = async (status: Task['status']) => (await runtime.list({ thread: 't', status })).tasks.length
    expect([await count('cancelled'), await count('completed'), await count('running')]).toEqual([5, 5, 0])
  })

  it('CANC-07 a task cancelled inside an emit loop delivers some events, then one terminal event', async () => {
    const runtime = await world().open()
    const task = await runtime.spawn({ thread: 't', run: tick })
    const isThird = (event: Event) => event.type === 'custom' && (event.data.payload as { n: number }).n === 2
    await eventsUntil(runtime, { thread: 't' }, isThird)
    expect(await runtime.cancel(task.id)).toBe(true)
    const events = await eventsOf(runtime, 't', task.id)
    const ticks = events.flatMap((event) => (event.type === 'custom' ? (event.data.payload as { n: number }).n : []))
    expect(ticks.length).toBeGreaterThan(2)
    expect(ticks).toEqual(ticks.map((_, n) => n))
    expect(events.filter(isTerminalType)).toEqual([events.at(-1)])
    expect(events.at(-1)?.type).toBe('task.cancelled')
    expect((await runtime.thread('t')).head).toBe(events.at(-1)?.seq)
  })

  it('CANC-08 what a task emits after the cancel reached it is delivered ahead of the terminal event', async () => {
    const runtime = await world().open()
    const run = async (ctx: AgentContext) => {
      await ctx.emit('working')
      await untilStopped(ctx).catch(async () => {
        await ctx.emit('cleaning up')
        await ctx.step('release', () => ctx.emit('released'))
      })
    }
    const task = await runtime.spawn({ thread: 't', run })
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom')
    await runtime.cancel(task.id)
    const events = await eventsOf(runtime, 't', task.id)
    expect(events.slice(2).map((event) => (event.type === 'custom' ? event.data.name : event.type))).toEqual([
      'working',
      'task.cancelling',
      'cleaning up',
      'released',
      'task.cancelled',
    ])
  })

  it('CANC-09 cancelAll while five tasks emit gives five terminal cancelled events, one each', async () => {
    const runtime = await world().open()
    const tasks = await Promise.all(Array.from({ length: 5 }, () => runtime.spawn({ thread: 't', run: tick })))
    const emitting = new Set<string>()
    await eventsUntil(runtime, { thread: 't' }, (event) => {
      if (event.type === 'custom' && event.task) emitting.add(event.task)
      return emitting.size === 5
    })
    expect(await runtime.cancelAll('t')).toBe(5)
    for (const { id } of tasks) await runtime.wait(id)
    const log = await logOf(runtime, 't')
    const terminal = log.filter(isTerminalType)
    expect(terminal.map(({ type }) => type)).toEqual(Array(5).fill('task.cancelled'))
    expect(terminal.map(({ task }) => task).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    for (const { task, seq } of terminal) expect(log.findLast((event) => event.task === task)?.seq).toBe(seq)
  })

  it("CANC-10 the task's signal reads not-cancelled before and cancelled after", async () => {
    const runtime = await world().open()
    const seen: unknown[] = []
    const run = async (ctx: AgentContext) => {
      seen.push(ctx.signal.aborted)
      await ctx.emit('ready')
      await untilStopped(ctx).catch((reason: unknown) => {
        seen.push(ctx.signal.aborted, reason)
      })
    }
    const task = await runtime.spawn({ thread: 't', run })
    await eventsUntil(runtime, { thread: 't' }, (event) => event.type === 'custom')
    expect(seen).toEqual([false])
    await runtime.cancel(task.id)
    const ended = await runtime.wait(task.id)
    expect(ended && isTerminal(ended.status)).toBe(true)
    expect(seen).toEqual([false, true, expect.objectContaining({ name: 'AbortError', reason: 'cancel' })])
  })
})
