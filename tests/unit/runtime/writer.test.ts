import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../src/core/decision.ts'
import type { ThreadKey } from '../../../src/core/id.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { Unit } from '../../../src/core/unit.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { Metrics } from '../../../src/runtime/metrics.ts'
import { Threads } from '../../../src/runtime/threads.ts'
import { Writer } from '../../../src/runtime/writer.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'

const thread = 'owner/t' as ThreadKey

/** A memory store whose first commit is refused, unit by unit, as one that another node was quicker than. */
async function overtakenOnce(): Promise<Store> {
  const store = faultyStore(memoryStore())
  await store.open()
  let isFirst = true
  const commit: Store['commit'] = async (units) => {
    if (!isFirst) return store.commit(units)
    isFirst = false
    return units.map(() => ({ committed: false, reason: { code: 'stale' } }))
  }
  return { ...store, commit }
}

function writerOn(store: Store): Writer {
  const around = {
    node: 'node',
    limits: defaultLimits,
    newTaskId: () => {
      throw new Error('no task is made here')
    },
    takeSlot: () => false,
    versionOf: () => undefined,
    decided: () => {},
    giveBack: () => {},
    refillTaskIds: async () => {},
  }
  return new Writer({
    store,
    threads: new Threads(store),
    clock: manualClock(0),
    log: silentLogger,
    metrics: new Metrics(),
    around,
    onCommitted: () => {},
    onFatal: () => {},
  })
}

function unitIn(live: LiveThread): Unit {
  return { operation: 'cancel', thread, rev: live.rev, events: [{ type: 'custom', data: '{}' }] }
}

describe('the writer', () => {
  it.each(['returned', 'thrown'] as const)('decides again what was %s after a unit that is refused', async (how) => {
    const writer = writerOn(await overtakenOnce())
    let isFirst = true
    // The first decision is overtaken by another node; seen anew there is nothing left to do.
    const decideFirst = (live: LiveThread): Decision<string> => {
      const decision = isFirst ? { unit: unitIn(live), value: 'done' } : { value: 'too late' }
      isFirst = false
      return decision
    }
    const decideNext = (live: LiveThread): Decision<string> => {
      if (live.rev === 0) return { value: 'alone' }
      if (how === 'returned') return { value: 'second' }
      throw new Error('refused for the sake of the first')
    }
    const change = { lane: thread, thread, operation: 'cancel', isIntent: true } as const
    const first = writer.change({ ...change, decide: decideFirst })
    const next = writer.change({ ...change, decide: decideNext })
    expect(await Promise.all([first, next])).toEqual([{ value: 'too late' }, { value: 'alone' }])
  })
})
