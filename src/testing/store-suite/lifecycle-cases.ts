import assert from 'node:assert/strict'
import { isHoldfastError } from '../../core/errors.ts'
import { taskId } from '../../core/id.ts'
import { alice, commit, deltas, home, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const lifecycleCases: StoreCase[] = [
  storeCase('refuses everything as unavailable once it is closed', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    await store.close()
    const attempts: (() => Promise<unknown>)[] = [
      () => store.commit([unit({ events: deltas(1) })]),
      () => store.allocate(1),
      () => store.livePart(home),
      () => store.snapshot(home, { messages: 1, endedTasks: 1 }),
      () => store.events(home, { after: 0, limit: 1 }),
      () => store.messages(home, { limit: 1 }),
      () => store.task(taskId('bg_0')),
      () => store.tasks({ principal: alice, limit: 1 }),
      () => store.threads({ principal: alice, limit: 1 }),
      () => store.steps(taskId('bg_0')),
      () => store.claim({ node: 'node_1', agents: [], starts: 1, orphans: 1, withCounts: true }),
      () => store.renew('node_1', 1000),
    ]
    for (const attempt of attempts) {
      await assert.rejects(attempt(), (error) => isHoldfastError(error, 'store_unavailable'), String(attempt))
    }
  }),

  storeCase('can be closed twice', async (store) => {
    await store.close()
    await store.close()
  }),

  storeCase('refuses to be opened while it is open, and goes on as it was', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    await assert.rejects(store.open(), (error) => isHoldfastError(error, 'store_locked'))
    await commit(store, unit({ events: deltas(1) }))
    assert.equal((await store.events(home, { after: 0, limit: 9 })).head, 2)
  }),

  storeCase('tells the instants of its clock', async (store, { clock }) => {
    clock.advance(5)
    assert.equal(store.clock.now(), clock.now())
  }),

  storeCase('lets a watch be ended twice', async (store) => {
    const end = store.watch(() => {})
    await commit(store, unit({ events: deltas(1) }))
    end()
    end()
    await commit(store, unit({ events: deltas(1) }))
  }),

  storeCase('gives two stores nothing in common', async (store, fixture) => {
    const other = await fixture.open()
    await commit(store, unit({ events: deltas(1) }))
    assert.equal(await other.livePart(home), undefined)
  }),
]
