import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import {
  accepting,
  commitOne,
  deltas,
  idsOf,
  liveOf,
  running,
  unit,
} from '../../../src/testing/store-suite/builders.ts'

const anyClaim = { node: 'node_2', agents: ['echo'], starts: 9, orphans: 9, withCounts: false }

it('refuses to work before it is opened', async () => {
  const store = memoryStore()
  await expect(store.commit([unit()])).rejects.toMatchObject({ code: 'store_unavailable' })
})

it('says that it is not durable', () => {
  const { kind, isDurable } = memoryStore()
  expect({ kind, isDurable }).toEqual({ kind: 'memory', isDurable: false })
})

it('keeps what it holds over a close and an open of the same object', async () => {
  const store = memoryStore()
  await store.open()
  await commitOne(store, accepting(running('bg_0'), { rev: 0 }))
  const before = await liveOf(store)
  await store.close()
  await store.open()
  expect(await liveOf(store)).toEqual(before)
})

it('gives up every lease when it is opened', async () => {
  const store = memoryStore()
  await store.open()
  await store.renew('node_1', 1_000_000)
  await commitOne(store, accepting(running('bg_0')))
  expect((await store.claim(anyClaim)).orphans).toEqual([])
  await store.close()
  await store.open()
  expect(idsOf((await store.claim(anyClaim)).orphans)).toEqual(['bg_0'])
  expect(await store.renew('node_1', 1000)).toEqual({ wasHeld: false })
})

it('goes by the clock of the process, in whole milliseconds, if it is given none', async () => {
  const wallAt = (): number => performance.timeOrigin + performance.now()
  const store = memoryStore()
  await store.open()
  const before = wallAt()
  const { at } = await commitOne(store, unit({ events: deltas(1) }))
  expect(Number.isInteger(at)).toBe(true)
  expect(at).toBeGreaterThanOrEqual(Math.round(before))
  expect(at).toBeLessThanOrEqual(Math.round(wallAt()))
})
