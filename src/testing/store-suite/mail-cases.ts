import assert from 'node:assert/strict'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  away,
  commit,
  ended,
  ending,
  fenced,
  home,
  ids,
  liveOf,
  mailTo,
  pending,
  refused,
  running,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function unread(store: Store, key = home): Promise<string[]> {
  return (await liveOf(store, key)).mail.map((mail) => mail.id)
}

async function withTwoTasks(store: Store): Promise<void> {
  await commit(store, accepting(running('bg_0')), accepting(pending('bg_1')))
}

export const mailCases: StoreCase[] = [
  storeCase('gives mail back with every field', async (store) => {
    await withTwoTasks(store)
    const whole = mailTo('bg_0', 'a', {
      place: 3,
      by: 'alice',
      from: 'a form',
      content: '{"x":1}',
      steer: '{"prompt":"y"}',
    })
    const bare = mailTo('bg_1', 'b', { place: 4 })
    await commit(store, unit({ mail: [whole, bare] }))
    assert.deepEqual((await liveOf(store)).mail, [whole, bare])
  }),

  storeCase('gives unread mail in the order of acceptance, whatever the order of commits', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: [mailTo('bg_0', 'c', { place: 12 }), mailTo('bg_1', 'a', { place: 2 })] }))
    await commit(store, unit({ mail: [mailTo('bg_0', 'b', { place: 10 }), mailTo('bg_0', 'd', { place: 100 })] }))
    assert.deepEqual(await unread(store), ['a', 'b', 'c', 'd'])
  }),

  storeCase('removes mail that was read, and no other', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: ['a', 'b', 'c'].map((id, place) => mailTo('bg_0', id, { place })) }))
    await commit(store, fenced('bg_0', 1, { read: ['b', 'unknown'] }))
    assert.deepEqual(await unread(store), ['a', 'c'])
  }),

  storeCase('keeps nothing of mail that is added and read in one unit', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: [mailTo('bg_0', 'a'), mailTo('bg_0', 'b', { place: 1 })], read: ['a'] }))
    assert.deepEqual(await unread(store), ['b'])
  }),

  storeCase('keeps mail whose reading was refused', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: [mailTo('bg_0', 'a')] }))
    await refused(store, fenced('bg_0', 2, { read: ['a'] }))
    assert.deepEqual(await unread(store), ['a'])
  }),

  storeCase('does not read the mail of another thread that has the same id', async (store) => {
    await withTwoTasks(store)
    await commit(store, accepting(running('bg_2', { key: away })))
    await commit(store, unit({ mail: [mailTo('bg_0', 'a')] }), unit({ thread: away, mail: [mailTo('bg_2', 'a')] }))
    await commit(store, unit({ read: ['a'] }))
    assert.deepEqual(await unread(store), [])
    assert.deepEqual(await unread(store, away), ['a'])
  }),

  storeCase('shows no mail of a task that has ended', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: [mailTo('bg_0', 'a'), mailTo('bg_1', 'b', { place: 1 })] }))
    await commit(store, ending(ended('bg_0')))
    assert.deepEqual(await unread(store), ['b'])
  }),

  storeCase('drops the mail of a forgotten task, and of no other', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ mail: [mailTo('bg_0', 'a'), mailTo('bg_1', 'b', { place: 1 })] }))
    await commit(store, unit({ forget: ids('bg_0') }))
    assert.deepEqual(await unread(store), ['b'])
  }),
]
