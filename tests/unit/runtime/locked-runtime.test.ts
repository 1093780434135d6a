import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import { type AgentContext, createRuntime } from '../../../src/index.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'

/** A store that cannot write to the thread `held` for as long as it is said so. */
function storeBesideLock(code: 'store_unavailable' | 'thread_locked' = 'thread_locked') {
  const inner = faultyStore(memoryStore())
  const lock = { isOn: false, code }
  const commit: Store['commit'] = async (units, onLate) => {
    const isHeld = lock.isOn && units.some(({ thread }) => thread.endsWith('/held'))
    if (isHeld) throw new HoldfastError(lock.code, 'It is held')
    return inner.commit(units, onLate)
  }
  return { store: { ...inner, commit }, lock }
}

it.for(['store_unavailable', 'thread_locked'] as const)(
  'a task that says more than it may have unwritten does not fail for a store that says %s',
  async (code) => {
    const { store, lock } = storeBesideLock(code)
    const talker = async (ctx: AgentContext) => {
      lock.isOn = true
      // A little at a time, over a while, by an agent that does not wait for room.
      for (let n = 0; n < 100; n += 1) {
        void ctx.say('x'.repeat(100 * 1024))
        for (let turn = 0; turn < 4; turn += 1) await nextTurn()
      }
      lock.isOn = false
      return 'done'
    }
    const runtime = createRuntime({ store, agents: { talker } })
    const { id } = await runtime.run({ thread: 'held', agent: 'talker', prompt: 'go' })
    const task = await runtime.wait(id)
    await runtime.close({ drainMs: 0 })
    expect(task).toMatchObject({ status: 'completed' })
  },
)

it('a thread that another program holds keeps no other from being pruned', async () => {
  const { store, lock } = storeBesideLock()
  const runtime = createRuntime({ store, agents: { echo: () => 'done' } })
  for (const thread of ['other', 'held']) {
    const { id } = await runtime.run({ thread, agent: 'echo', prompt: 'go' })
    await runtime.wait(id)
  }
  lock.isOn = true
  const { events, skipped } = await runtime.prune({ eventsPerThread: 1 })
  const { first, head } = await runtime.thread('other')
  expect([first, events, skipped]).toEqual([head, head - 1, 1])
  lock.isOn = false
  await runtime.close({ drainMs: 0 })
})

it('a store that cannot be written to keeps what is pruned from being called done', async () => {
  const { store, lock } = storeBesideLock('store_unavailable')
  const runtime = createRuntime({ store, agents: { echo: () => 'done' } })
  const { id } = await runtime.run({ thread: 'held', agent: 'echo', prompt: 'go' })
  await runtime.wait(id)
  lock.isOn = true
  await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
  lock.isOn = false
  await runtime.close({ drainMs: 0 })
})

it('a store that cannot be written to is no locked thread, though the thread was locked before', async () => {
  const { store, lock } = storeBesideLock()
  const clock = manualClock(0)
  const runtime = createRuntime({ store, clock, agents: { echo: () => 'done' } })
  const { id } = await runtime.run({ thread: 'held', agent: 'echo', prompt: 'go' })
  await runtime.wait(id)
  lock.isOn = true
  expect(await runtime.prune({ eventsPerThread: 1 })).toEqual({ threads: 0, events: 0, tasks: 0, skipped: 1 })
  // It has rested, and would be written to.
  await clock.advance(20_000)
  lock.code = 'store_unavailable'
  await expect(runtime.prune({ eventsPerThread: 1 })).rejects.toMatchObject({ code: 'store_unavailable' })
  lock.isOn = false
  await runtime.close({ drainMs: 0 })
})
