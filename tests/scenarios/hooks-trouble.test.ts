import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { principal, type TaskId, taskId, threadId, threadKey } from '../../src/core/id.ts'
import { createRuntime, type Runtime, type Store } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { faultyStore } from '../../src/testing/faulty-store.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { untilStopped } from './bodies.ts'
import { counterOf } from './counters.ts'
import { hearing } from './hearing.ts'
import { gate, onEachStore, type World } from './world.ts'

async function ended(runtime: Runtime, count: number, thread = 't'): Promise<TaskId[]> {
  const tasks = await Promise.all(Array.from({ length: count }, () => runtime.spawn({ thread, run: () => 'done' })))
  for (const { id } of tasks) expect(await runtime.wait(id)).toMatchObject({ status: 'completed', result: 'done' })
  return tasks.map(({ id }) => id)
}

async function pass(here: World, ms: number): Promise<void> {
  await here.clock.advance(ms)
  await here.quiet()
}

onEachStore(['memory', 'sqlite'], (_kind, world) => {
  it('INBX-19 an onEnded that throws, rejects, hangs or leaves a rejection behind breaks neither the runtime nor a task', async () => {
    const here = world()
    const troubles = [
      () => {
        throw null
      },
      () => Promise.reject('later'),
      () => new Promise(() => {}),
      () => {
        void Promise.reject(new Error('nobody handles this'))
      },
      () => {
        throw Object.defineProperty(new Error('x'), 'message', {
          get: () => {
            throw new Error('even its text')
          },
        })
      },
    ]
    let count = 0
    const { told, onEnded } = hearing(() => troubles[count++ % troubles.length]?.())
    const runtime = await here.open({ onEnded })
    await ended(runtime, troubles.length)
    await pass(here, 31_000)
    await ended(runtime, 1)
    expect(told.length).toBeGreaterThan(troubles.length)
    expect(await runtime.isReady()).toBe(true)
    const errors = (await runtime.list({ thread: 't' })).tasks.flatMap(({ hook }) => hook?.error ?? [])
    expect(errors.length).toBeGreaterThan(0)
  })

  it('no more than 8 calls of onEnded are under way at once, and no run waits for one', async () => {
    const here = world()
    const answer = gate()
    const { told, onEnded } = hearing(() => answer.opened)
    const runtime = await here.open({ onEnded })
    await ended(runtime, 20)
    await pass(here, 5000)
    expect(told).toHaveLength(8)
    expect(await counterOf(runtime, 'holdfast_hooks_owed')).toBe(20)
    await ended(runtime, 1)
    answer.open()
    await pass(here, 1000)
    await pass(here, 1000)
    expect(new Set(told.map(({ id }) => id)).size).toBe(21)
    expect(told).toHaveLength(21)
    expect(await counterOf(runtime, 'holdfast_hooks_total', { result: 'answered' })).toBe(21)
    expect(await counterOf(runtime, 'holdfast_hooks_owed')).toBe(0)
  })

  it('a call of onEnded that takes too long is told so by its signal, and another is made', async () => {
    const here = world()
    const reasons: string[] = []
    const { told, onEnded } = hearing((_task, { signal, attempt }) => {
      if (attempt > 1) return undefined
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(String(signal.reason))
          reject(new Error('stopped'))
        })
      })
    })
    const runtime = await here.open({ onEnded })
    const [id = ''] = await ended(runtime, 1)
    await pass(here, 29_000)
    expect(reasons).toEqual([])
    await pass(here, 1_000)
    expect(reasons).toEqual(['Error: onEnded did not answer within 30000 ms'])
    expect((await runtime.get(id))?.hook).toMatchObject({ attempts: 1 })
    await pass(here, 2_000)
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect((await runtime.get(id))?.hook).toBeUndefined()
  })

  it('a close lets calls of onEnded finish, and leaves the others to the next process', async () => {
    const here = world()
    const answer = gate()
    const { told, onEnded } = hearing(() => answer.opened)
    const runtime = await here.open({ onEnded })
    await ended(runtime, 10)
    await here.quiet()
    const closing = runtime.close({ drainMs: 1000 })
    await here.quiet()
    answer.open()
    await closing
    expect(told).toHaveLength(8)
    const second = hearing(
      (_task, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
    )
    const next = await here.open({ onEnded: second.onEnded })
    await pass(here, 1000)
    expect(second.told).toHaveLength(2)
    await next.close({ drainMs: 0 })
    const third = hearing()
    await here.open({ onEnded: third.onEnded })
    await pass(here, 1000)
    expect(third.told).toEqual(second.told)
  })

  it('onEnded runs outside of all tasks: what it spawns is nobody’s child, and fails by itself', async () => {
    const here = world()
    const told = Promise.withResolvers<TaskId>()
    const goOn = gate()
    const runtime = await here.open({
      agents: { waits: untilStopped },
      onEnded: async ({ thread }) => {
        if (thread !== 'other') return
        void Promise.reject(new Error('nobody handles this'))
        told.resolve((await runtime.spawn({ thread: 'after', run: () => 'follow-up' })).id)
      },
    })
    for (const prompt of ['one', 'two']) await runtime.run({ thread: 'other', agent: 'waits', prompt })
    const [, queued] = (await runtime.list({ thread: 'other' })).tasks.toReversed()
    // The end is committed by what a live task does, in whose name everything follows that does not say otherwise.
    const cancels = await runtime.spawn({
      thread: 't',
      run: async () => {
        await runtime.cancel(queued?.id ?? '')
        await goOn.opened
        return 'went on'
      },
    })
    const spawned = await told.promise
    expect(await runtime.wait(spawned)).toMatchObject({ status: 'completed' })
    expect((await runtime.get(spawned))?.parent).toBeUndefined()
    goOn.open()
    expect(await runtime.wait(cancels.id)).toMatchObject({ status: 'completed', result: 'went on' })
  })

  it('a thread whose ends are owed to onEnded is not pruned; one that is deleted owes nothing', async () => {
    const here = world()
    const { onEnded } = hearing(() => Promise.reject(new Error('down')))
    const runtime = await here.open({ onEnded })
    for (const thread of ['t', 'gone']) await runtime.collect(thread, await ended(runtime, 1, thread))
    await pass(here, 5000)
    await runtime.deleteThread('gone')
    expect(await runtime.prune({ threadsMs: 1000 })).toMatchObject({ threads: 0 })
    await pass(here, 5000)
    expect(await counterOf(runtime, 'holdfast_hooks_owed')).toBe(1)
    await runtime.close({ drainMs: 0 })
    // Nobody is going to call it here.
    const next = await here.open()
    expect(await next.prune({ threadsMs: 1000 })).toMatchObject({ threads: 1 })
  })

  it('onEnded is given up for a task after many failures; that is said, counted and shown', async () => {
    const here = world()
    const { told, onEnded } = hearing(() => Promise.reject(new Error('down')))
    const said: unknown[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (facts: object) => void said.push(facts) }
    const runtime = await here.open({ onEnded, log })
    const [task = taskId('')] = await ended(runtime, 1)
    await here.quiet()
    const thread = threadKey(principal('owner'), threadId('t'))
    const almost = { attempts: 439, error: 'down', nextAt: here.clock.now() }
    await here.store.commit([{ operation: 'hook', thread, events: [], hooks: [{ task, hook: almost }] }])
    await pass(here, 1000)
    expect((await runtime.get(task))?.hook).toEqual({ attempts: 440, error: 'down' })
    expect(told.map(({ attempt }) => attempt)).toEqual([1, 440])
    expect(said).toMatchObject([{ task, attempt: 440 }])
    await pass(here, 601_000)
    expect(told).toHaveLength(2)
    expect(await counterOf(runtime, 'holdfast_hooks_total', { result: 'given_up' })).toBe(1)
    expect(await counterOf(runtime, 'holdfast_hooks_owed')).toBe(0)
  })
})

it('a call that is settled while the store is being read is not made again by what was read', async () => {
  const clock = manualClock()
  const inner = faultyStore(memoryStore({ clock }))
  let reading: Promise<void> | undefined
  const isRead = gate()
  const tasks: Store['tasks'] = async (query) => {
    const page = await inner.tasks(query)
    if ('owedBy' in query && reading) {
      isRead.open()
      await reading
    }
    return page
  }
  const answer = gate()
  const { told, onEnded } = hearing(() => answer.opened)
  const runtime = createRuntime({ store: { ...inner, tasks }, clock, onEnded })
  const first = await ended(runtime, 1)
  for (const id of first) while (!told.some((call) => call.id === id)) await nextTurn()
  const goOn = gate()
  reading = goOn.opened
  const second = await ended(runtime, 1)
  await isRead.opened
  answer.open()
  for (const id of first) while ((await runtime.get(id))?.hook) await nextTurn()
  goOn.open()
  for (const id of second) while ((await runtime.get(id))?.hook) await nextTurn()
  expect(told.map(({ id }) => id)).toEqual([...first, ...second])
  await runtime.close({ drainMs: 0 })
})
