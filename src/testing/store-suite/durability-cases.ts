import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  codes,
  commit,
  commitOne,
  deltas,
  ended,
  event,
  failsTheBatch,
  fenced,
  home,
  idsOf,
  liveOf,
  logOf,
  mailTo,
  pending,
  refused,
  running,
  step,
  unit,
} from './builders.ts'
import { durableCase, type StoreCase, soleNodeCase } from './store-case.ts'

/** All that can be read of the thread `home` and the task `bg_0`. */
async function pictureOf(store: Store): Promise<unknown> {
  return {
    log: await logOf(store),
    live: await liveOf(store),
    snapshot: await store.snapshot(home, { messages: 100, endedTasks: 100 }),
    tasks: await store.tasks({ principal: alice, limit: 100 }),
    untaken: await store.tasks({ principal: alice, limit: 100, untaken: true }),
    threads: await store.threads({ principal: alice, limit: 100 }),
    steps: await store.steps(taskId('bg_0')),
  }
}

export const durabilityCases: StoreCase[] = [
  durableCase('holds everything that was committed after it is opened again', async (store, fixture) => {
    const messages = [{ id: 'm', role: 'user' as const, parts: '[]', event: 0 }]
    await commit(
      store,
      accepting(running('bg_0', { name: 'scout', usage: { tokens: 1 } }), { rev: 0, wakes: 2 }),
      unit({ events: [event('message.created')], messages, mail: [mailTo('bg_0', 'a')], rev: 1 }),
      fenced('bg_0', 1, { steps: [step('bg_0', 'a')], report: { progress: 0.5 } }),
      accepting(ended('bg_1', { parent: { task: taskId('bg_0') } })),
    )
    const before = await pictureOf(store)
    assert.deepEqual(await pictureOf(await fixture.reopen(store)), before)
  }),

  durableCase('goes on numbering and goes on at the revision after it is opened again', async (store, fixture) => {
    await commit(store, unit({ rev: 0, events: deltas(3) }))
    const opened = await fixture.reopen(store)
    assert.equal((await refused(opened, unit({ rev: 0 }))).code, 'stale')
    assert.equal((await commitOne(opened, unit({ rev: 1, events: deltas(1) }))).first, 4)
  }),

  durableCase('never lets instants go back over an opening', async (store, fixture) => {
    const { at } = await commitOne(store, unit({ events: deltas(1) }))
    fixture.clock.advance(-60_000)
    assert.equal((await commitOne(await fixture.reopen(store), unit({ events: deltas(1) }))).at, at)
  }),

  durableCase('never allocates a number again after it is opened again', async (store, fixture) => {
    const first = await store.allocate(5)
    const opened = await fixture.reopen(store)
    assert.ok((await opened.allocate(1)) >= first + 5)
    await commit(opened, accepting(ended('bg_70')))
    assert.ok((await (await fixture.reopen(opened)).allocate(1)) > 70)
  }),

  durableCase('keeps idempotency keys over an opening', async (store, fixture) => {
    const key = { key: 'k', digest: 'd', task: taskId('bg_0') }
    await commit(store, accepting(pending('bg_0'), { key }))
    const reason = await refused(await fixture.reopen(store), accepting(pending('bg_1'), { key }))
    assert.deepEqual(reason, { code: 'key_taken', task: 'bg_0', digest: 'd' })
  }),

  durableCase('keeps fences and unique names over an opening', async (store, fixture) => {
    await commit(store, accepting(running('bg_0', { name: 'scout', epoch: 2 })))
    const opened = await fixture.reopen(store)
    assert.deepEqual(await codes(opened, [fenced('bg_0', 1), fenced('bg_0', 2)]), ['fenced', 'committed'])
    await failsTheBatch(opened, accepting(pending('bg_1', { name: 'scout' })))
  }),

  soleNodeCase('gives up every lease when it is opened, because nobody else can live', async (store, fixture) => {
    await store.renew('node_1', 1_000_000)
    await commit(store, accepting(running('bg_0')), accepting(pending('bg_1')))
    const opened = await fixture.reopen(store)
    const query = { node: 'node_2', agents: ['echo'], starts: 9, orphans: 9, withCounts: false }
    const { starts, orphans } = await opened.claim(query)
    assert.deepEqual([idsOf(starts), idsOf(orphans)], [['bg_1'], ['bg_0']])
    assert.deepEqual(await opened.renew('node_1', 1000), { wasHeld: false })
  }),

  durableCase('holds nothing of a refused unit or a failed batch after it is opened again', async (store, fixture) => {
    await commit(store, accepting(pending('bg_0')))
    await refused(store, unit({ rev: 9, events: deltas(1) }))
    await failsTheBatch(store, unit({ events: deltas(1) }), accepting(pending('bg_0')))
    const before = await pictureOf(store)
    assert.deepEqual(await pictureOf(await fixture.reopen(store)), before)
  }),
]
