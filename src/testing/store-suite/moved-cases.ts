import assert from 'node:assert/strict'
import type { ThreadPlace } from '../../stores/store.ts'
import { away, bobsHome, commit, deltas, home, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

const at = (key: ThreadPlace['key'], head: number, rev: number): ThreadPlace => ({ key, head, rev })

export const movedCases: StoreCase[] = [
  storeCase('names the threads that are not where they were thought to be, and where they are', async (store) => {
    await commit(store, unit({ events: deltas(3) }), unit({ thread: away, rev: 0, events: deltas(1) }))
    assert.deepEqual(await store.moved([at(home, 3, 0), at(away, 1, 1)]), [])
    assert.deepEqual(await store.moved([at(home, 2, 0), at(away, 1, 1)]), [at(home, 3, 0)])
    assert.deepEqual(await store.moved([at(home, 3, 0), at(away, 1, 0)]), [at(away, 1, 1)])
  }),

  storeCase('names a thread that is behind where it was thought to be', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    assert.deepEqual(await store.moved([at(home, 7, 0)]), [at(home, 1, 0)])
  }),

  storeCase('has a thread that was never used at the beginning, and of none nothing to say', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    assert.deepEqual(await store.moved([at(bobsHome, 0, 0)]), [])
    assert.deepEqual(await store.moved([at(bobsHome, 1, 0)]), [at(bobsHome, 0, 0)])
    assert.deepEqual(await store.moved([]), [])
  }),

  storeCase('shows an erase by the revision, because the numbers go on', async (store) => {
    await commit(store, unit({ rev: 0, events: deltas(2) }))
    await commit(store, unit({ operation: 'erase', rev: 1, erase: true }))
    assert.deepEqual(await store.moved([at(home, 2, 1)]), [at(home, 2, 2)])
  }),
]
