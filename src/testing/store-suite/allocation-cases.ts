import assert from 'node:assert/strict'
import { accepting, added, away, bobsHome, commit, ended, pending, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const allocationCases: StoreCase[] = [
  storeCase('allocates task numbers from 0 on', async (store) => {
    assert.deepEqual([await store.allocate(1), await store.allocate(3), await store.allocate(1)], [0, 1, 4])
  }),

  storeCase('never gives two callers the same number', async (store) => {
    const counts = Array.from({ length: 30 }, (_, n) => (n % 3) + 1)
    const firsts = await Promise.all(counts.map((count) => store.allocate(count)))
    const numbers = firsts.flatMap((first, n) => Array.from({ length: counts[n] ?? 0 }, (_, place) => first + place))
    assert.equal(new Set(numbers).size, 60)
  }),

  storeCase('allocates above every number that was restored, in whatever thread', async (store) => {
    const restored = [ended('bg_10'), ended('bg_5', { key: away }), ended('bg_9', { key: bobsHome })]
    await commit(store, ...restored.map((record) => unit({ thread: record.key, tasks: [added(record)] })))
    assert.equal(await store.allocate(1), 11)
  }),

  storeCase('does not go back when a lower number is stored', async (store) => {
    await store.allocate(20)
    await commit(store, accepting(pending('bg_3')))
    assert.equal(await store.allocate(1), 20)
  }),

  storeCase('counts only ids of the shape bg_n', async (store) => {
    const others = ['bg_07', 'bg_-4', 'bg_', 'task_99', 'BG_99', 'bg_99x', 'xbg_99', 'bg_1.5', 'bg_9e9']
    await commit(store, ...others.map((id) => accepting(pending(id))), accepting(pending('bg_2')))
    assert.equal(await store.allocate(1), 3)
  }),
]
