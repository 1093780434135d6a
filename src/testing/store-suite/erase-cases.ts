import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import {
  accepting,
  added,
  alice,
  away,
  bobsHome,
  codes,
  commit,
  deltas,
  ended,
  failsTheBatch,
  fenced,
  headOf,
  home,
  idsOf,
  liveOf,
  logOf,
  numbersOf,
  offerOf,
  pending,
  refused,
  running,
  taskOf,
  unit,
} from './builders.ts'
import { contentOf, erasing, fill, filling } from './filled-thread.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const eraseCases: StoreCase[] = [
  storeCase('leaves nothing of an erased thread but its head and a raised revision', async (store) => {
    await fill(store, home, 'home')
    await commit(store, erasing(1))
    assert.deepEqual(await contentOf(store, home, 'home'), {
      live: { key: home, rev: 2, wakes: 0, tasks: [], ended: [], mail: [], questions: [] },
      log: [],
      messages: [],
      snapshot: { head: 7, first: 8, messages: [], tasks: [], questions: [] },
      tasks: [undefined, undefined],
      steps: [[], []],
      questions: [],
      question: [],
      listed: [],
      untaken: [],
      children: [],
      named: [],
      key: { code: 'key_free' },
    })
  }),

  storeCase('offers and counts nothing of an erased thread', async (store) => {
    await fill(store, home, 'home')
    await commit(store, accepting(pending('bg_9')), erasing(1))
    const query = { node: 'node_9', agents: ['echo'], starts: 9, orphans: 9, withCounts: true }
    const counts = { pending: 0, unclaimable: 0, openByPrincipal: new Map(), owedHooks: 0, nodes: 0 }
    assert.deepEqual(await offerOf(store, query), { starts: [], orphans: [], counts })
  }),

  storeCase('touches no other thread of the principal and none of another', async (store) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    await fill(store, bobsHome, 'bob')
    const before = [await contentOf(store, away, 'away'), await contentOf(store, bobsHome, 'bob')]
    await commit(store, erasing(1))
    assert.deepEqual([await contentOf(store, away, 'away'), await contentOf(store, bobsHome, 'bob')], before)
  }),

  storeCase('leaves a child in another thread alone', async (store) => {
    await commit(
      store,
      accepting(ended('bg_0')),
      accepting(running('bg_1', { key: away, parent: { task: taskId('bg_0') } })),
    )
    await commit(store, erasing(0))
    assert.deepEqual((await taskOf(store, 'bg_1')).parent, { task: 'bg_0' })
    await commit(store, fenced('bg_1', 1, { thread: away }))
  }),

  storeCase('erases what earlier units of the batch wrote, and nothing that later ones write', async (store) => {
    const later = accepting(running('bg_9', { name: 'scout', type: 'run' }), { rev: 2 })
    await commit(store, ...filling(home, 'home'), erasing(1), later, fenced('bg_9', 1))
    assert.deepEqual(numbersOf(await logOf(store)), [8, 9])
    assert.deepEqual(idsOf((await liveOf(store)).tasks), ['bg_9'])
    const { firstSeq, seq } = await taskOf(store, 'bg_9')
    assert.deepEqual([firstSeq, seq], [8, 9])
  }),

  storeCase('empties the thread before the rest of the unit is written', async (store) => {
    await fill(store, home, 'home')
    const tasks = [added(ended('bg_9'))]
    await commit(store, erasing(1, { events: deltas(1, 'bg_9'), tasks, wakes: 1 }))
    assert.deepEqual(numbersOf(await logOf(store)), [8])
    assert.equal((await taskOf(store, 'bg_9')).seq, 8)
    assert.equal((await liveOf(store)).wakes, 1)
  }),

  storeCase('refuses as fenced what is still written for an erased task', async (store) => {
    await fill(store, home, 'home')
    assert.deepEqual(await codes(store, [fenced('home_0', 1), erasing(1), fenced('home_0', 1)]), [
      'committed',
      'committed',
      'fenced',
    ])
    assert.deepEqual(await refused(store, fenced('home_0', 1)), { code: 'fenced' })
    assert.equal(await headOf(store), 8)
  }),

  storeCase('refuses an erase of another revision as stale, and erases nothing', async (store) => {
    await fill(store, home, 'home')
    const before = await contentOf(store, home, 'home')
    assert.deepEqual(await refused(store, erasing(0)), { code: 'stale' })
    assert.deepEqual(await refused(store, erasing(2)), { code: 'stale' })
    assert.deepEqual(await contentOf(store, home, 'home'), before)
  }),

  storeCase('refuses as stale what was decided before an erase', async (store) => {
    await fill(store, home, 'home')
    assert.deepEqual(await codes(store, [erasing(1), accepting(pending('bg_9'), { rev: 1 })]), ['committed', 'stale'])
  }),

  storeCase('takes an erase back with a batch that fails', async (store) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    const before = await contentOf(store, home, 'home')
    await failsTheBatch(store, erasing(1), unit({ events: deltas(3) }), accepting(running('away_0', { key: away })))
    assert.deepEqual(await contentOf(store, home, 'home'), before)
    await commit(store, fenced('home_0', 1))
    assert.equal((await taskOf(store, 'home_0')).seq, 8)
  }),

  storeCase('erases any number of tasks and events', async (store) => {
    const many = Array.from({ length: 500 }, (_, n) => accepting(ended(`bg_${n}`)))
    await commit(store, ...many, unit({ events: deltas(5000, 'bg_1') }))
    await commit(store, erasing(0))
    assert.deepEqual(await store.snapshot(home, { messages: 9, endedTasks: 9 }), {
      head: 5500,
      first: 5501,
      messages: [],
      tasks: [],
      questions: [],
    })
    assert.deepEqual(await store.tasks({ principal: alice, limit: 9 }), { tasks: [] })
  }),
]
