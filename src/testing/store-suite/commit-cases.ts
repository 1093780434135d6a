import assert from 'node:assert/strict'
import { threadId, threadKey } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'
import {
  accepting,
  alice,
  away,
  bob,
  bobsHome,
  commit,
  commitOne,
  deltas,
  event,
  fenced,
  headOf,
  home,
  liveOf,
  logOf,
  numbersOf,
  pending,
  refused,
  running,
  taskOf,
  unit,
  upTo,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const commitCases: StoreCase[] = [
  storeCase('numbers the events of a thread 1, 2, 3 over units and batches', async (store) => {
    const verdicts = [
      ...(await commit(store, unit({ events: deltas(2) }), unit({ events: deltas(1) }))),
      ...(await commit(store, unit({ events: deltas(3) }))),
    ]
    assert.deepEqual(
      verdicts.map((verdict) => verdict.first),
      [1, 3, 4],
    )
    assert.deepEqual(numbersOf(await logOf(store)), upTo(6))
  }),

  storeCase('keeps the events of a unit together and in their order', async (store) => {
    const events = [event('task.accepted', 'bg_0'), event('task.started', 'bg_0'), event('text.delta')]
    await commit(store, unit({ events }))
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.type),
      ['task.accepted', 'task.started', 'text.delta'],
    )
  }),

  storeCase('numbers each thread on its own, in one batch too', async (store) => {
    const here = unit({ events: deltas(2) })
    const there = unit({ thread: away, events: deltas(1) })
    const verdicts = await commit(store, here, there, here, there)
    assert.deepEqual(
      verdicts.map((verdict) => verdict.first),
      [1, 1, 3, 2],
    )
  }),

  storeCase('judges each of many units that append to threads of their own, alone or beside others', async (store) => {
    const unused = threadKey(alice, threadId('unused'))
    const third = threadKey(bob, threadId('third'))
    const tasks = [running('bg_0'), running('bg_1', { key: away }), running('bg_2', { key: third })]
    await commit(store, ...tasks.map((record) => accepting(record)))
    const appends = [
      fenced('bg_2', 1, { thread: third, events: [...deltas(1), ...deltas(2, 'bg_2')] }),
      fenced('bg_1', 7, { thread: away }),
      fenced('bg_0', 1, { thread: unused }),
      fenced('bg_0', 1, { events: deltas(2, 'bg_0') }),
    ]
    const said = async (...units: Unit[]) =>
      (await store.commit(units)).map((verdict) => (verdict.committed ? verdict.first : verdict.reason.code))
    assert.deepEqual(await said(...appends), [2, 'fenced', 'fenced', 'after_refused'])
    assert.deepEqual(await said(...appends.slice(3)), [2])
    const more = accepting(pending('bg_3', { key: bobsHome }))
    assert.deepEqual(await said(appends[0] ?? more, more, ...appends.slice(1)), [
      5,
      1,
      'fenced',
      'fenced',
      'after_refused',
    ])
    assert.deepEqual(
      await Promise.all(['bg_0', 'bg_1', 'bg_2'].map(async (id) => (await taskOf(store, id)).seq)),
      [3, 1, 7],
    )
    assert.deepEqual(numbersOf(await logOf(store, third)), upTo(7))
    assert.equal(await headOf(store, unused), 0)
  }),

  storeCase('keeps apart the threads of two principals that have one id', async (store) => {
    await commit(store, unit({ events: deltas(3) }), unit({ thread: bobsHome, events: deltas(1) }))
    assert.equal(await headOf(store, home), 3)
    assert.equal(await headOf(store, bobsHome), 1)
  }),

  storeCase('gives a unit without events no number', async (store) => {
    const verdicts = await commit(store, unit({ events: deltas(2) }), unit(), unit({ events: deltas(1) }))
    assert.deepEqual(
      verdicts.map((verdict) => verdict.first),
      [1, 3, 3],
    )
    assert.equal(await headOf(store), 3)
  }),

  storeCase('leaves no hole for a refused unit', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    await refused(store, unit({ rev: 7, events: deltas(5) }))
    assert.equal((await commitOne(store, unit({ events: deltas(1) }))).first, 2)
  }),

  storeCase('answers an empty batch with no verdict', async (store) => {
    assert.deepEqual(await store.commit([]), [])
  }),

  storeCase('stamps events with the clock of the store', async (store, { clock }) => {
    const before = clock.now()
    await commit(store, unit({ events: deltas(1) }))
    clock.advance(250)
    const verdict = await commitOne(store, unit({ events: deltas(1) }))
    assert.equal(verdict.at, before + 250)
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.at),
      [before, before + 250],
    )
  }),

  storeCase('never lets the instants of a thread go back when its clock does', async (store, { clock }) => {
    const before = clock.now()
    await commit(store, unit({ events: deltas(1) }))
    clock.advance(-5000)
    const [same, fresh] = await commit(store, unit({ events: deltas(1) }), unit({ thread: away, events: deltas(1) }))
    assert.equal(same?.at, before)
    assert.equal(fresh?.at, before - 5000)
  }),

  storeCase('shows a committed unit to every read that is called after it', async (store) => {
    await commit(store, accepting(pending('bg_0'), { rev: 0 }))
    assert.equal((await taskOf(store, 'bg_0')).status, 'pending')
    assert.equal((await liveOf(store)).rev, 1)
    assert.equal(await headOf(store), 1)
    assert.equal((await store.snapshot(home, { messages: 1, endedTasks: 1 }))?.tasks.length, 1)
    assert.equal((await store.threads({ principal: alice, limit: 1 })).threads.length, 1)
  }),

  storeCase('numbers commits made at once without a hole and without a repeat', async (store) => {
    const counts = Array.from({ length: 40 }, (_, n) => (n % 4) + 1)
    const verdicts = await Promise.all(counts.map((count) => commitOne(store, unit({ events: deltas(count) }))))
    const numbers = verdicts.flatMap((verdict, n) => upTo(counts[n] ?? 0).map((place) => verdict.first + place - 1))
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      upTo(100),
    )
    assert.deepEqual(numbersOf(await logOf(store)), upTo(100))
  }),

  storeCase('shows a thread never used as empty', async (store) => {
    assert.equal(await store.livePart(home), undefined)
    assert.equal(await store.snapshot(home, { messages: 10, endedTasks: 10 }), undefined)
    assert.deepEqual(await store.events(home, { after: 0, limit: 10 }), { head: 0, first: 1, events: [], upTo: 0 })
    assert.deepEqual((await store.messages(home, { limit: 10 })).messages, [])
    assert.deepEqual(await store.tasks({ principal: alice, limit: 10 }), { tasks: [] })
    assert.deepEqual(await store.threads({ principal: alice, limit: 10 }), { threads: [] })
  }),

  storeCase('does not begin a thread with a refused unit', async (store) => {
    await refused(store, unit({ rev: 1, events: deltas(1) }))
    assert.equal(await store.livePart(home), undefined)
    assert.deepEqual(await store.threads({ principal: alice, limit: 10 }), { threads: [] })
  }),

  storeCase('begins a thread with a unit that has no events', async (store) => {
    await commit(store, unit({ rev: 0 }))
    assert.deepEqual(await liveOf(store), {
      key: home,
      rev: 1,
      wakes: 0,
      tasks: [],
      ended: [],
      mail: [],
      questions: [],
    })
    assert.equal((await store.snapshot(home, { messages: 1, endedTasks: 1 }))?.head, 0)
  }),

  storeCase('keeps the count of wakes until a unit sets another', async (store) => {
    await commit(store, unit({ wakes: 3 }), unit({ events: deltas(1) }))
    assert.equal((await liveOf(store)).wakes, 3)
    await commit(store, unit({ wakes: 0 }))
    assert.equal((await liveOf(store)).wakes, 0)
  }),

  storeCase('commits a batch that touches many threads', async (store) => {
    const keys = Array.from({ length: 50 }, (_, n) => threadKey(alice, threadId(`t${n}`)))
    await commit(store, ...[...keys, ...keys].map((thread) => unit({ thread, events: deltas(2) })))
    for (const key of keys) assert.equal(await headOf(store, key), 4)
  }),
]
