import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { HoldfastError, invariant } from '../../../src/core/errors.ts'
import { type AgentContext, createRuntime, type Runtime } from '../../../src/index.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { passTime } from '../../scenarios/pass-time.ts'
import { eventsUntil, gate } from '../../scenarios/world.ts'

/** A store of which the thread `torn` cannot be read, nor anything else while it is away. */
function tornStore(clock = manualClock(0)) {
  const inner = faultyStore(memoryStore({ clock }))
  const state = { isTorn: false, isLocked: false, isAway: false }
  const livePart: Store['livePart'] = async (key) => {
    if (state.isAway) throw new HoldfastError('store_unavailable', 'It is away')
    if (state.isTorn && key.endsWith('/torn')) throw new SyntaxError('Unexpected end of JSON input')
    return inner.livePart(key)
  }
  const commit: Store['commit'] = async (units, onLate) => {
    if (state.isAway) throw new HoldfastError('store_unavailable', 'It is away')
    const isHeld = state.isLocked && units.some(({ thread }) => thread.endsWith('/torn'))
    if (isHeld) throw new HoldfastError('thread_locked', 'It is held')
    return inner.commit(units, onLate)
  }
  return { store: { ...inner, livePart, commit }, state }
}

async function filled(runtime: Runtime): Promise<void> {
  // The newest is looked at first.
  for (const thread of ['other', 'torn']) {
    const { id } = await runtime.run({ thread, agent: 'echo', prompt: 'go' })
    await runtime.wait(id)
  }
}

const agents = { echo: () => 'done' }
const away = { code: 'store_unavailable' }

describe('a thread that cannot be read', () => {
  it.each([{ dryRun: true }, {}])('keeps no other from being pruned, and is told of: %o', async (how) => {
    const { store, state } = tornStore()
    const runtime = createRuntime({ store, agents })
    await filled(runtime)
    const { head } = await runtime.thread('other')
    state.isTorn = true
    const pruned = await runtime.prune({ eventsPerThread: 1, ...how })
    expect(pruned).toEqual({ threads: 0, events: head - 1, tasks: 0, skipped: 1 })
    await runtime.close({ drainMs: 0 })
  })

  it('keeps a policy from no other', async () => {
    const { store, state } = tornStore()
    const clock = manualClock(0)
    const runtime = createRuntime({ store, agents, clock, retention: { eventsPerThread: 1 } })
    await filled(runtime)
    const { head } = await runtime.thread('other')
    state.isTorn = true
    const pruned = async () => {
      while ((await runtime.thread('other')).first < head) await nextTurn()
    }
    await passTime(clock, pruned())
    await runtime.close({ drainMs: 0 })
  })
})

describe('a store that is away is no thread that cannot be read', () => {
  it('where nothing is being written', async () => {
    const { store, state } = tornStore()
    const runtime = createRuntime({ store, agents })
    await filled(runtime)
    state.isAway = true
    await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
    state.isAway = false
    await runtime.close({ drainMs: 0 })
  })

  it('while what is written waits for a thread that is locked', async () => {
    const { store, state } = tornStore()
    const [locked, found] = [gate(), gate()]
    const talker = async (ctx: AgentContext) => {
      await locked.opened
      void ctx.say('hello')
      await new Promise(() => {})
    }
    const log = { ...silentLogger, error: () => found.open() }
    const runtime = createRuntime({ store, agents: { ...agents, talker }, clock: manualClock(0), log })
    await filled(runtime)
    const { id } = await runtime.run({ thread: 'torn', agent: 'talker', prompt: 'go' })
    await eventsUntil(runtime, { thread: 'torn' }, ({ type, task }) => type === 'task.started' && task === id)
    state.isLocked = true
    locked.open()
    await found.opened
    state.isAway = true
    await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject(away)
    Object.assign(state, { isAway: false, isLocked: false })
    await runtime.close({ drainMs: 0 })
  })

  it('while a batch is on its way of which nothing is heard', async () => {
    const { store, state } = tornStore()
    const [sent, read, answered] = [gate(), gate(), gate()]
    const commit: Store['commit'] = async (units, onLate) => {
      if (state.isAway) sent.open()
      if (state.isAway) await answered.opened
      return store.commit(units, onLate)
    }
    const livePart: Store['livePart'] = async (key) => {
      if (state.isAway) read.open()
      return store.livePart(key)
    }
    const runtime = createRuntime({ store: { ...store, commit, livePart }, agents })
    await filled(runtime)
    state.isAway = true
    const asked = expect(runtime.run({ thread: 'other', agent: 'echo', prompt: 'go' })).rejects.toMatchObject(away)
    await sent.opened
    const pruned = expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject(away)
    await read.opened
    answered.open()
    await Promise.all([asked, pruned])
    state.isAway = false
    await runtime.close({ drainMs: 0 })
  })
})

it('a defect is no thread that cannot be read', async () => {
  const { store } = tornStore()
  const state = { isBroken: false }
  const livePart: Store['livePart'] = async (key) => {
    invariant(!state.isBroken, 'a live part can be told')
    return store.livePart(key)
  }
  const runtime = createRuntime({ store: { ...store, livePart }, agents })
  await filled(runtime)
  state.isBroken = true
  await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toThrow('Broken invariant')
  state.isBroken = false
  await runtime.close({ drainMs: 0 })
})

it('what went of a thread before it was found to be locked is counted', async () => {
  const clock = manualClock(0)
  const { store } = tornStore(clock)
  const commit: Store['commit'] = async (units, onLate) => {
    if (units.some(({ operation }) => operation === 'erase')) throw new HoldfastError('thread_locked', 'It is held')
    return store.commit(units, onLate)
  }
  const runtime = createRuntime({ store: { ...store, commit }, clock, agents })
  await filled(runtime)
  const { head } = await runtime.thread('other')
  await clock.advance(100_000)
  const pruned = await runtime.prune({ threadsMs: 5 })
  expect(pruned).toEqual({ threads: 0, events: 2 * (head - 1), tasks: 0, skipped: 2 })
  await runtime.close({ drainMs: 0 })
})
