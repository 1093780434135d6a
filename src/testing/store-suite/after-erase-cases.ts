import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  commit,
  commitOne,
  deltas,
  ended,
  home,
  idsOf,
  logOf,
  numbersOf,
  pending,
  refused,
  running,
  unit,
} from './builders.ts'
import { contentOf, erasing, fill } from './filled-thread.ts'
import { durableCase, type StoreCase, storeCase } from './store-case.ts'

async function threadsOf(store: Store): Promise<string[]> {
  return (await store.threads({ principal: alice, limit: 100 })).threads.map(({ thread }) => thread)
}

export const afterEraseCases: StoreCase[] = [
  storeCase('numbers the events of an erased thread on', async (store) => {
    await fill(store, home, 'home')
    assert.equal((await commitOne(store, erasing(1))).first, 8)
    assert.equal((await commitOne(store, unit({ events: deltas(2) }))).first, 8)
    assert.deepEqual(numbersOf(await logOf(store)), [8, 9])
    const { head, first } = await store.events(home, { after: 7, limit: 1 })
    assert.deepEqual([head, first], [9, 8])
  }),

  storeCase('gives pages of an erased log that are empty and at its end', async (store) => {
    await fill(store, home, 'home')
    await commit(store, erasing(1))
    for (const after of [0, 3, 7]) {
      assert.deepEqual(await store.events(home, { after, limit: 5 }), { head: 7, first: 8, events: [], upTo: 7 })
    }
    const task = { id: taskId('home_0'), first: 1, last: 7 }
    assert.deepEqual((await store.events(home, { after: 0, limit: 5, task })).events, [])
  }),

  storeCase('never goes back in time after an erase', async (store, { clock }) => {
    await fill(store, home, 'home')
    await commit(store, erasing(1))
    const before = clock.now()
    clock.advance(-1000)
    assert.equal((await commitOne(store, unit({ events: deltas(1) }))).at, before)
  }),

  storeCase('erases again what came after an erase', async (store) => {
    await fill(store, home, 'home')
    await commit(store, erasing(1), accepting(ended('bg_5'), { rev: 2 }), erasing(3))
    assert.deepEqual(await store.snapshot(home, { messages: 9, endedTasks: 9 }), {
      head: 8,
      first: 9,
      messages: [],
      tasks: [],
      questions: [],
    })
  }),

  storeCase('frees the names, keys and spawns of an erased thread', async (store) => {
    await fill(store, home, 'home')
    await commit(store, erasing(1))
    const key = { key: 'key of home', digest: 'another', task: taskId('bg_8') }
    const named = running('bg_8', { name: 'scout', type: 'run', parent: { task: taskId('home_0') }, stepKey: 'a' })
    await commit(store, accepting(named, { key }))
    assert.deepEqual(await refused(store, unit({ askKey: 'key of home' })), {
      code: 'key_taken',
      task: 'bg_8',
      digest: 'another',
    })
  }),

  storeCase('keeps the keys of other threads of the principal', async (store) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    await commit(store, erasing(1))
    assert.equal((await refused(store, unit({ askKey: 'key of away' }))).code, 'key_taken')
  }),

  storeCase('lists an erased thread again once it has an event', async (store) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    await commit(store, erasing(1))
    assert.deepEqual(await threadsOf(store), ['away'])
    await commit(store, unit({ rev: 2 }))
    assert.deepEqual(await threadsOf(store), ['away'])
    await commit(store, unit({ events: deltas(1) }))
    assert.deepEqual(await threadsOf(store), ['away', 'home'])
    const [, summary] = (await store.threads({ principal: alice, limit: 9 })).threads
    assert.deepEqual([summary?.head, summary?.first], [8, 8])
  }),

  storeCase('never allocates the number of an erased task again', async (store) => {
    const first = await store.allocate(3)
    await commit(store, accepting(ended(`bg_${first + 2}`)), accepting(ended(`bg_${first + 7}`)))
    await commit(store, erasing(0))
    assert.ok((await store.allocate(1)) > first + 7)
  }),

  storeCase('pages on through a list of tasks some of which are erased meanwhile', async (store) => {
    const records = ['bg_0', 'bg_1', 'bg_2', 'bg_3'].map((id, n) => ended(id, { key: n % 2 === 0 ? home : away }))
    await commit(store, ...records.map((record) => accepting(record)))
    const page = await store.tasks({ principal: alice, limit: 2 })
    assert.deepEqual(idsOf(page.tasks), ['bg_3', 'bg_2'])
    await commit(store, erasing(0))
    const next = await store.tasks({ principal: alice, limit: 2, cursor: page.cursor ?? '' })
    assert.deepEqual(idsOf(next.tasks), ['bg_1'])
  }),

  storeCase('lists a task accepted after an erase as the newest', async (store) => {
    await commit(store, accepting(ended('bg_0', { key: away })), accepting(ended('bg_1')), erasing(0))
    await commit(store, accepting(pending('bg_2')), accepting(pending('bg_3', { key: away })))
    assert.deepEqual(idsOf((await store.tasks({ principal: alice, limit: 9 })).tasks), ['bg_3', 'bg_2', 'bg_0'])
  }),

  durableCase('remembers an erase when it is opened again', async (store, fixture) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    await commit(store, erasing(1))
    const [before, other] = [await contentOf(store, home, 'home'), await contentOf(store, away, 'away')]
    const again = await fixture.reopen(store)
    assert.deepEqual(await contentOf(again, home, 'home'), before)
    assert.deepEqual(await contentOf(again, away, 'away'), other)
    assert.equal((await commitOne(again, unit({ events: deltas(1) }))).first, 8)
  }),

  durableCase('allocates no number of an erased task when it is opened again', async (store, fixture) => {
    await commit(store, accepting(ended('bg_41')), erasing(0))
    const again = await fixture.reopen(store)
    assert.ok((await again.allocate(1)) > 41)
  }),
]
