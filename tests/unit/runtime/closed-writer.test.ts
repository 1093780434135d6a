import { expect, it } from 'vitest'
import { HoldfastError } from '../../../src/core/errors.ts'
import type { ThreadKey } from '../../../src/core/id.ts'
import { nextTurn } from '../../../src/runtime/clock.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { writerOn } from './writer-on.ts'

it('a writer that is closed waits for nothing, though a thread is found locked by its last commit', async () => {
  const inner = faultyStore(memoryStore())
  await inner.open()
  const asked = Promise.withResolvers<() => void>()
  const answer = Promise.withResolvers<never>()
  const commit: Store['commit'] = (units, onLate = () => {}) => {
    if (units.length === 0) return Promise.resolve([])
    asked.resolve(onLate)
    return answer.promise
  }
  const clock = manualClock(0)
  const writer = writerOn({ ...inner, commit }, clock)
  const thread = 'owner/held' as ThreadKey
  const unit = { operation: 'end' as const, thread, rev: 0, events: [] }
  const done = writer.change({
    lane: thread,
    thread,
    operation: 'end',
    isIntent: false,
    decide: () => ({ unit, value: undefined }),
  })
  const refused = expect(done).rejects.toMatchObject({ code: 'draining' })
  const tellLate = await asked.promise
  tellLate()
  await writer.close()
  answer.reject(new HoldfastError('thread_locked', 'It is held'))
  await refused
  await nextTurn()
  expect(clock.pendingTimerCount).toBe(0)
})
