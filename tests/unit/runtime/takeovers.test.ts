import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import type { TaskId } from '../../../src/core/id.ts'
import { type AgentContext, createRuntime } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { forever } from '../../scenarios/attempts.ts'
import { passTime } from '../../scenarios/pass-time.ts'
import { gate } from '../../scenarios/world.ts'

const agents = { busy: forever }
const away = { code: 'store_unavailable' }

/** Tasks that were executed by a node that died, each in a thread of its own. */
async function left(...threads: readonly string[]): Promise<{ readonly inner: Store; readonly ids: TaskId[] }> {
  const inner = memoryStore()
  const crashing = faultyStore(inner)
  const before = createRuntime({ store: crashing, clock: manualClock(0), agents, concurrency: 1_000 })
  const ids: TaskId[] = []
  for (const thread of threads) ids.push((await before.run({ thread, agent: 'busy', prompt: 'go' })).id)
  await crashing.crash()
  return { inner, ids }
}

/** A store whose steps are read when they are let. */
function heldSteps(inner: Store): { readonly steps: Store['steps']; readonly asked: Promise<void>; letGo(): void } {
  const [read, readable] = [gate(), gate()]
  const steps: Store['steps'] = async (...given) => {
    read.open()
    await readable.opened
    return inner.steps(...given)
  }
  return { steps, asked: read.opened, letGo: () => readable.open() }
}

it('what can only be ended is ended while no slot is free, also after an outage', async () => {
  const { inner, ids } = await left('first', 'second')
  const store = faultyStore(inner)
  const clock = manualClock(0)
  const runtime = createRuntime({ store, clock, agents, concurrency: 1 })
  await runtime.opened()
  await clock.advance(1_000)
  store.down()
  await expect(runtime.run({ thread: 'x', agent: 'busy', prompt: 'go' })).rejects.toMatchObject(away)
  await clock.advance(3_000)
  store.up()
  await clock.advance(10_000)
  const orphan = ids[1] as TaskId
  expect(await runtime.cancel(orphan)).toBe(true)
  expect(await passTime(clock, runtime.wait(orphan))).toMatchObject({ status: 'cancelled' })
  await runtime.close({ drainMs: 0 })
})

it('what can only be ended is ended while another takeover is long to read', async () => {
  const { inner, ids } = await left('long', 'over')
  const { steps, asked, letGo } = heldSteps(inner)
  const clock = manualClock(0)
  const runtime = createRuntime({ store: { ...faultyStore(inner), steps }, clock, agents, concurrency: 1 })
  await passTime(clock, asked)
  const over = ids[1] as TaskId
  await runtime.cancel(over)
  expect(await passTime(clock, runtime.wait(over))).toMatchObject({ status: 'cancelled' })
  letGo()
  await runtime.close({ drainMs: 0 })
})

it.each([
  ['was read', forever],
  ['has ended', () => Promise.resolve()],
])('where more were abandoned than are read at once, nobody looks for them with each that %s', async (_what, act) => {
  const count = 400
  const { inner } = await left(...Array.from({ length: count }, (_, n) => `t${n}`))
  const base = faultyStore(inner)
  const waiting: (() => void)[] = []
  const steps: Store['steps'] = async (...given) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return inner.steps(...given)
  }
  let claimCount = 0
  const claim: Store['claim'] = async (query) => {
    if (query.orphans > 0) claimCount += 1
    return base.claim(query)
  }
  let begunCount = 0
  const counting = () => {
    begunCount += 1
    return act()
  }
  const clock = manualClock(0)
  const store = { ...base, steps, claim }
  const runtime = createRuntime({ store, clock, agents: { busy: counting }, concurrency: 1_000 })
  await runtime.opened()
  while (begunCount < count) {
    waiting.shift()?.()
    await clock.advance(0)
  }
  expect(claimCount).toBeLessThan(count / 10)
  await runtime.close({ drainMs: 0 })
})

it('G11 nodes that drain while they read what they took over count as no crashes', async () => {
  const { inner, ids } = await left('t')
  const [id] = ids as [TaskId]
  const crashes: (number | undefined)[] = []
  for (let n = 0; n < 4; n++) {
    const { steps, asked } = heldSteps(inner)
    const clock = manualClock(0)
    const runtime = createRuntime({ store: { ...faultyStore(inner), steps }, clock, agents })
    await passTime(clock, asked)
    const closing = runtime.close({ drainMs: 25_000 })
    await clock.advance(25_000)
    await closing
    await inner.open()
    crashes.push((await inner.task(id))?.crashes)
    await inner.close()
  }
  // The first of them found what had died.
  expect(crashes).toEqual([1, 1, 1, 1])
})

it('G11 nodes that close as soon as they have taken a task over count as no crashes', async () => {
  const { inner, ids } = await left('t')
  for (let n = 0; n < 4; n++) {
    const runtime = createRuntime({ store: inner, clock: manualClock(0), agents })
    await runtime.opened()
    await runtime.close({ drainMs: 0 })
  }
  await inner.open()
  const [crashes = Number.NaN] = [(await inner.task(ids[0] as TaskId))?.crashes]
  expect(crashes).toBeLessThanOrEqual(1)
})

it.each([
  { trouble: 'is locked', error: new HoldfastError('thread_locked', 'held') },
  { trouble: 'cannot be written to', error: new Error('bad row') },
])('a drain hands over all else if the thread of what is being read $trouble', async ({ error }) => {
  const { inner } = await left('stuck')
  const { steps, asked } = heldSteps(inner)
  const base = faultyStore(inner)
  let isInTrouble = false
  const commit: Store['commit'] = async (units, onLate) => {
    if (isInTrouble && units.some(({ thread }) => thread.endsWith('/stuck'))) throw error
    return base.commit(units, onLate)
  }
  const clock = manualClock(0)
  const runtime = createRuntime({ store: { ...base, steps, commit }, clock, agents })
  const { id } = await runtime.run({ thread: 'healthy', agent: 'busy', prompt: 'go' })
  await passTime(clock, asked)
  isInTrouble = true
  await passTime(clock, runtime.close({ drainMs: 1_000 }))
  await inner.open()
  const { status, node } = (await inner.task(id)) ?? {}
  expect([status, node]).toEqual(['running', undefined])
})

it('nothing begins on a node that has drained', async () => {
  const { inner } = await left('t')
  const { steps, asked, letGo } = heldSteps(inner)
  const base = faultyStore(inner)
  const renewed = gate()
  const renew: Store['renew'] = async (node, leaseMs) => {
    if (leaseMs === 0) {
      letGo()
      await renewed.opened
    }
    return base.renew(node, leaseMs)
  }
  let begunCount = 0
  const counting = () => {
    begunCount += 1
    return forever()
  }
  const clock = manualClock(0)
  const runtime = createRuntime({ store: { ...base, steps, renew }, clock, agents: { busy: counting } })
  await passTime(clock, asked)
  const closing = runtime.close({ drainMs: 1_000 })
  await clock.advance(1_000)
  // What was read meanwhile has all the time it wants.
  await clock.advance(1_000)
  renewed.open()
  await closing
  expect(begunCount).toBe(0)
})

it('what a task had put out is not given up for two failed reads with an outage between', async () => {
  const inner = memoryStore()
  const crashing = faultyStore(inner)
  const said = gate()
  const talker = async (ctx: AgentContext) => {
    await ctx.say('kept')
    said.open()
    return forever()
  }
  const before = createRuntime({ store: crashing, clock: manualClock(0), agents: { talker } })
  const { id } = await before.run({ thread: 't', agent: 'talker', prompt: 'go' })
  await said.opened
  await before.cancel(id)
  await crashing.crash()
  let failCount = 0
  const events: Store['events'] = async (key, query) => {
    if (!query.toDecide || failCount === 2) return inner.events(key, query)
    failCount += 1
    throw new Error('no connection for a moment')
  }
  const clock = manualClock(0)
  const base = faultyStore(inner)
  const runtime = createRuntime({ store: { ...base, events, clock }, clock, agents: { talker } })
  while (failCount === 0) await clock.advance(10)
  base.down()
  await expect(runtime.run({ thread: 'x', agent: 'talker', prompt: 'go' })).rejects.toMatchObject(away)
  await clock.advance(61_000)
  base.up()
  while (failCount === 1) await clock.advance(10)
  expect(await passTime(clock, runtime.wait(id))).toMatchObject({ status: 'cancelled', partial: true })
  await runtime.close({ drainMs: 0 })
})

it('what waits in a queue is started while a takeover is long to read', async () => {
  const { inner } = await left('long')
  const { steps, asked, letGo } = heldSteps(inner)
  const clock = manualClock(0)
  const finish = gate()
  const brief = () => finish.opened
  const runtime = createRuntime({ store: { ...faultyStore(inner), steps }, clock, agents: { ...agents, brief } })
  await passTime(clock, asked)
  await runtime.run({ thread: 't', agent: 'brief', prompt: 'first' })
  const { id } = await runtime.run({ thread: 't', agent: 'brief', prompt: 'second' })
  finish.open()
  expect(await passTime(clock, runtime.wait(id))).toMatchObject({ status: 'completed' })
  letGo()
  await runtime.close({ drainMs: 0 })
})

it('of more takeovers than are read at once the others follow as soon as those are read', async () => {
  const { inner } = await left(...Array.from({ length: 300 }, (_, n) => `t${n}`))
  const { steps, letGo } = heldSteps(inner)
  let [readCount, begunCount] = [0, 0]
  const counted: Store['steps'] = (...given) => {
    if (given[1] === 'last') readCount += 1
    return steps(...given)
  }
  const allBegun = gate()
  const counting = () => {
    begunCount += 1
    if (begunCount === 300) allBegun.open()
    return forever()
  }
  const clock = manualClock(0)
  const store = { ...faultyStore(inner), steps: counted }
  const runtime = createRuntime({ store, clock, agents: { busy: counting }, concurrency: 1_000 })
  await runtime.opened()
  await clock.advance(3_000)
  expect([readCount, begunCount]).toEqual([256, 0])
  letGo()
  await allBegun.opened
  await runtime.close({ drainMs: 0 })
})
