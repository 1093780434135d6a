import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { createRuntime, type Runtime } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { passTime } from '../../scenarios/pass-time.ts'

/** A store of which the thread `torn` cannot be read, nor anything else while it is away. */
function tornStore() {
  const inner = faultyStore(memoryStore())
  const state = { isTorn: false, isAway: false }
  const livePart: Store['livePart'] = async (key) => {
    if (state.isAway) throw new HoldfastError('store_unavailable', 'It is away')
    if (state.isTorn && key.endsWith('/torn')) throw new SyntaxError('Unexpected end of JSON input')
    return inner.livePart(key)
  }
  const commit: Store['commit'] = async (units, onLate) => {
    if (state.isAway) throw new HoldfastError('store_unavailable', 'It is away')
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

it('a store that is away is no thread that cannot be read', async () => {
  const { store, state } = tornStore()
  const runtime = createRuntime({ store, agents })
  await filled(runtime)
  state.isAway = true
  await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
  state.isAway = false
  await runtime.close({ drainMs: 0 })
})
