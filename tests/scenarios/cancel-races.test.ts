import { expect, it } from 'vitest'
import type { Event } from '../../src/index.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { untilStopped } from './bodies.ts'
import { eventsOf, gate, logOf, onEachStore } from './world.ts'

/** What three clients know of a run that has ended: two that watched, and one that asks now. */
async function clients(runtime: Runtime, run: string, watching: readonly Promise<Event[]>[]): Promise<unknown[]> {
  const seen = await Promise.all(watching)
  const last = seen.map((events) => events.at(-1)?.type.replace('task.', ''))
  return [...last, (await runtime.get(run))?.status]
}

function watch(runtime: Runtime, run: string): Promise<Event[]>[] {
  return [eventsOf(runtime, 't', run), eventsOf(runtime, 't', run)]
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('CANC-22 a cancel that comes while the end is being committed says false, and the run is completed', async () => {
    const here = world()
    const finish = gate()
    const runtime = await here.open({ agents: { waiting: () => finish.opened.then(() => 'done') } })
    const run = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'go' })
    const watching = watch(runtime, run.id)
    const held = here.store.hold()
    finish.open()
    await held.reached
    const answers = [runtime.cancel(run.id), runtime.cancelTree(run.id), runtime.cancelAll('t')]
    await here.quiet()
    held.open()
    expect(await Promise.all(answers)).toEqual([false, 0, 0])
    expect(await clients(runtime, run.id, watching)).toEqual(['completed', 'completed', 'completed'])
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'task.completed',
    ])
  })

  it('CANC-22 a run that ends while its cancel is being committed is cancelled, and the answer is true', async () => {
    const here = world()
    const finish = gate()
    const runtime = await here.open({ agents: { waiting: () => finish.opened.then(() => 'done') } })
    const run = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'go' })
    const watching = watch(runtime, run.id)
    const held = here.store.hold()
    const cancelling = runtime.cancel(run.id)
    await held.reached
    finish.open()
    await here.quiet()
    held.open()
    expect(await cancelling).toBe(true)
    expect(await clients(runtime, run.id, watching)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    expect(await runtime.get(run.id)).not.toHaveProperty('result')
  })

  it('CANC-22 whichever of a cancel and an end asked in one moment is first, answer and outcome agree', async () => {
    const here = world()
    const runtime = await here.open()
    for (const isCancelFirst of [true, false]) {
      const finish = gate()
      const task = await runtime.spawn({ thread: 't', run: () => finish.opened.then(() => 'done') })
      if (!isCancelFirst) finish.open()
      const cancelling = runtime.cancel(task.id)
      if (isCancelFirst) finish.open()
      const isCancelled = await cancelling
      const ended = await runtime.wait(task.id)
      expect(ended).toMatchObject(isCancelled ? { status: 'cancelled' } : { status: 'completed', result: 'done' })
    }
  })

  it('a task whose cancel and end share a commit is waited for as it is stored', async () => {
    const here = world()
    const finish = gate()
    const runtime = await here.open({ agents: { waiting: () => finish.opened.then(() => 'done') } })
    const run = await runtime.run({ thread: 't', agent: 'waiting', prompt: 'go' })
    const waiting = runtime.wait(run.id)
    const held = here.store.hold()
    const other = runtime.spawn({ thread: 'other', run: () => 'done' })
    await held.reached
    const cancelled = runtime.cancel(run.id)
    await here.quiet()
    finish.open()
    await here.quiet()
    held.open()
    await Promise.all([other, cancelled])
    expect(await waiting).toEqual(await runtime.get(run.id))
  })

  it('a failed commit of a cancel cancels nothing, and says so', async () => {
    const here = world()
    const runtime = await here.open()
    const task = await runtime.spawn({ thread: 't', run: untilStopped })
    here.store.down()
    await expect(runtime.cancel(task.id)).rejects.toMatchObject({ code: 'store_unavailable' })
    here.store.up()
    await here.quiet()
    await here.clock.advance(60_000)
    await here.quiet()
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual(['task.accepted', 'task.started'])
    expect(await runtime.cancel(task.id)).toBe(true)
    expect(await runtime.wait(task.id)).toMatchObject({ status: 'cancelled' })
  })

  it('a cancel while the start is being committed reaches the task as soon as it has started', async () => {
    const here = world()
    const runtime = await here.open({ agents: { untilStopped }, concurrency: 1 })
    const finish = gate()
    await runtime.spawn({ thread: 'u', run: () => finish.opened })
    const run = await runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'go' })
    const isStarting = gate()
    here.store.plan((units) => {
      if (units.some(({ operation }) => operation === 'start')) isStarting.open()
      return 'none'
    })
    finish.open()
    await isStarting.opened
    expect(await runtime.cancel(run.id)).toBe(true)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled', attempt: 1 })
    expect((await logOf(runtime, 't')).map(({ type }) => type)).toEqual([
      'task.accepted',
      'task.started',
      'message.created',
      'task.cancelling',
      'message.created',
      'task.cancelled',
    ])
  })

  it('a cancel that is committed before the start of a task that a slot was found for keeps it from starting', async () => {
    const here = world()
    let isStarted = false
    const start = () => {
      isStarted = true
    }
    const runtime = await here.open({ agents: { start }, concurrency: 1 })
    const finish = gate()
    const blocker = await runtime.spawn({ thread: 'u', run: () => finish.opened })
    const run = await runtime.run({ thread: 't', agent: 'start', prompt: 'go' })
    const held = here.store.hold()
    const cancelling = runtime.cancel(run.id)
    await held.reached
    finish.open()
    await here.quiet()
    held.open()
    expect(await cancelling).toBe(true)
    await runtime.wait(blocker.id)
    expect(await runtime.wait(run.id)).toMatchObject({ status: 'cancelled', attempt: 0 })
    const next = await runtime.spawn({ thread: 'u', run: () => 'the slot is free' })
    expect(await runtime.wait(next.id)).toMatchObject({ status: 'completed' })
    expect(isStarted).toBe(false)
  })

  it('a cancel of the thread in the moment a run is accepted takes it or leaves it whole', async () => {
    const runtime = await world().open({ agents: { untilStopped } })
    for (const isCancelFirst of [true, false]) {
      const early = isCancelFirst ? runtime.cancelThread('t') : []
      const accepting = runtime.run({ thread: 't', agent: 'untilStopped', prompt: 'go' })
      const late = isCancelFirst ? [] : runtime.cancelThread('t')
      const run = await accepting
      const cancelled = [...(await early), ...(await late)]
      expect(cancelled).toEqual(cancelled.includes(run.id) ? [run.id] : [])
      if (cancelled.includes(run.id)) await runtime.wait(run.id)
      expect((await runtime.get(run.id))?.status).toBe(cancelled.includes(run.id) ? 'cancelled' : 'running')
      await runtime.cancelThread('t')
      await runtime.wait(run.id)
    }
  })
})
