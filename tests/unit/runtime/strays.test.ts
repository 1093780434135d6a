import { expect, it } from 'vitest'
import type { TaskId } from '../../../src/core/id.ts'
import { createRuntime } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { faultyStore, manualClock } from '../../../src/testing/index.ts'
import { accepting, away, commit, home, pending, running } from '../../../src/testing/store-suite/builders.ts'
import { forever } from '../../scenarios/attempts.ts'
import { passTime } from '../../scenarios/pass-time.ts'

const agents = { busy: forever, echo: async () => 'done' }
const lookMs = 5_000

async function opened(store: Store) {
  const clock = manualClock(0)
  const runtime = createRuntime({ store, clock, agents })
  const { node } = await runtime.info()
  return { clock, node, runtime: runtime.as('alice') }
}

it('Y1 a task that two looks in a row find under a node that does not execute it goes on, and that is no crash', async () => {
  const store = memoryStore()
  const { clock, node, runtime } = await opened(store)
  await commit(store, accepting(running('lost', { node })))
  await clock.advance(lookMs)
  expect(await store.task('lost' as TaskId)).toMatchObject({ node, epoch: 1 })
  const ended = await passTime(clock, runtime.wait('lost'))
  expect(ended).toMatchObject({ status: 'completed', attempt: 2, epoch: 2 })
  expect(await store.task('lost' as TaskId)).toMatchObject({ crashes: 0 })
  await runtime.close()
})

it('a function that no process has any more, and that never started, ends as orphaned', async () => {
  const store = memoryStore()
  const { clock, node, runtime } = await opened(store)
  await commit(store, accepting(pending('lost', { node, closure: true })))
  const ended = await passTime(clock, runtime.wait('lost'))
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'orphaned' } })
  await runtime.close()
})

it('Y1 what is executed here is given up by no look, whatever it has found', async () => {
  const inner = memoryStore()
  let lookCount = 0
  const claim: Store['claim'] = (query) => {
    if (query.executing) lookCount += 1
    return inner.claim(query.executing ? { ...query, executing: [] } : query)
  }
  const { clock, runtime } = await opened({ ...faultyStore(inner), claim })
  const { id } = await runtime.run({ thread: 'home', agent: 'busy', prompt: 'go' })
  for (let n = 0; n < 5; n++) await clock.advance(lookMs)
  expect(lookCount).toBeGreaterThanOrEqual(5)
  expect(await runtime.get(id)).toMatchObject({ status: 'running', attempt: 1, epoch: 1 })
  await runtime.close({ drainMs: 0 })
})

it('a task that cannot be given up keeps no other from it, and is tried again', async () => {
  const inner = memoryStore()
  let isRefusing = true
  const store: Store = {
    ...faultyStore(inner),
    livePart: (key) => (isRefusing && key === home ? Promise.reject(new Error('unreadable')) : inner.livePart(key)),
  }
  const { clock, node, runtime } = await opened(store)
  await commit(inner, accepting(running('unreadable', { node })), accepting(running('lost', { node, key: away })))
  expect(await passTime(clock, runtime.wait('lost'))).toMatchObject({ status: 'completed' })
  isRefusing = false
  expect(await passTime(clock, runtime.wait('unreadable'))).toMatchObject({ status: 'completed' })
  await runtime.close()
})

it('many that cannot be given up keep no other from it, and the log is told of each once', async () => {
  const inner = memoryStore()
  const store: Store = {
    ...faultyStore(inner),
    livePart: (key) => (key === home ? Promise.reject(new Error('unreadable')) : inner.livePart(key)),
  }
  const told: object[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (facts: object) => void told.push(facts) }
  const clock = manualClock(0)
  const runtime = createRuntime({ store, clock, agents, log })
  const { node } = await runtime.info()
  for (let n = 0; n < 256; n++) await commit(inner, accepting(running(`unreadable_${n}`, { node })))
  await commit(inner, accepting(running('lost', { node, key: away })))
  expect(await passTime(clock, runtime.as('alice').wait('lost'))).toMatchObject({ status: 'completed' })
  await clock.advance(60_000)
  const tasks = told.flatMap((facts) => ('task' in facts && facts.task !== 'lost' ? [facts.task] : []))
  expect(tasks.length).toBe(new Set(tasks).size)
  await runtime.close({ drainMs: 0 })
})
