import assert from 'node:assert/strict'
import type { SnapshotRecords, Store } from '../../stores/store.ts'
import {
  accepting,
  away,
  bobsHome,
  commit,
  ended,
  ending,
  event,
  home,
  idsOf,
  pending,
  running,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function snapshotOf(store: Store, messages = 100, endedTasks = 100): Promise<SnapshotRecords> {
  const snapshot = await store.snapshot(home, { messages, endedTasks })
  assert.ok(snapshot)
  return snapshot
}

async function say(store: Store, ...names: string[]): Promise<void> {
  const events = names.map(() => event('message.created'))
  const messages = names.map((id, place) => ({ id, role: 'user' as const, parts: '[]', event: place }))
  await commit(store, unit({ events, messages }))
}

export const snapshotCases: StoreCase[] = [
  storeCase('shows a thread at its head', async (store) => {
    await commit(store, accepting(running('bg_0')))
    await say(store, 'a', 'b')
    const { head, first, messages, tasks } = await snapshotOf(store)
    assert.deepEqual([head, first], [3, 1])
    assert.deepEqual(messages, (await store.messages(home, { limit: 10 })).messages)
    assert.deepEqual(tasks, [await taskOf(store, 'bg_0')])
  }),

  storeCase('shows the last messages, in the order of their numbers', async (store) => {
    await say(store, 'a', 'b', 'c')
    const shown = async (count: number) => idsOf((await snapshotOf(store, count)).messages)
    assert.deepEqual(await shown(2), ['b', 'c'])
    assert.deepEqual(await shown(0), [])
    assert.deepEqual(await shown(9), ['a', 'b', 'c'])
  }),

  storeCase('shows all live tasks and the last that ended, the first accepted first', async (store, { clock }) => {
    const names = ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4']
    await commit(store, ...names.map((id, place) => accepting(running(id, { place }))), accepting(pending('bg_5')))
    for (const id of ['bg_4', 'bg_0', 'bg_3']) {
      clock.advance(1)
      await commit(store, ending(ended(id)))
    }
    const shown = async (count: number) => idsOf((await snapshotOf(store, 0, count)).tasks)
    assert.deepEqual(await shown(0), ['bg_1', 'bg_2', 'bg_5'])
    assert.deepEqual(await shown(2), ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_5'])
    assert.deepEqual(await shown(9), ['bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_4', 'bg_5'])
  }),

  storeCase('counts runs and taken tasks among the ended', async (store) => {
    await commit(store, accepting(ended('bg_0', { type: 'run' })), accepting(ended('bg_1', { taken: true })))
    assert.deepEqual(idsOf((await snapshotOf(store)).tasks), ['bg_0', 'bg_1'])
  }),

  storeCase('shows nothing of another thread', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', { key: away })))
    await commit(store, accepting(running('bg_2', { key: bobsHome })))
    assert.deepEqual(idsOf((await snapshotOf(store)).tasks), ['bg_0'])
  }),
]
