import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'
import {
  accepting,
  away,
  bobsHome,
  codes,
  commit,
  commitOne,
  failsTheBatch,
  fenced,
  headOf,
  home,
  liveOf,
  pending,
  refused,
  running,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

function keyed(id: string, key: string, fields: Partial<Unit> = {}, digest = 'digest'): Unit {
  const record = pending(id, { key: fields.thread ?? home })
  return accepting(record, { key: { key, digest, task: record.id }, ...fields })
}

export const idempotencyCases: StoreCase[] = [
  storeCase('refuses the second use of a key and names the task and digest of the first', async (store) => {
    await commit(store, keyed('bg_0', 'k', {}, 'first'))
    const expected = { code: 'key_taken', task: 'bg_0', digest: 'first' }
    assert.deepEqual(await refused(store, keyed('bg_1', 'k', {}, 'first')), expected)
    assert.deepEqual(await refused(store, keyed('bg_2', 'k', {}, 'second')), expected)
  }),

  storeCase('does nothing else of a unit whose key is taken', async (store) => {
    await commit(store, keyed('bg_0', 'k', { rev: 0 }))
    await refused(store, keyed('bg_1', 'k', { rev: 1, wakes: 4 }))
    assert.equal(await store.task(taskId('bg_1')), undefined)
    assert.equal(await headOf(store), 1)
    const { rev, wakes } = await liveOf(store)
    assert.deepEqual([rev, wakes], [1, 0])
  }),

  storeCase('refuses a key that an earlier unit of the batch took', async (store) => {
    const batch = [keyed('bg_0', 'k'), keyed('bg_1', 'k'), keyed('bg_2', 'other')]
    assert.deepEqual(await codes(store, batch), ['committed', 'key_taken', 'committed'])
  }),

  storeCase('refuses a key that the principal used in another thread', async (store) => {
    await commit(store, keyed('bg_0', 'k'))
    assert.equal((await refused(store, keyed('bg_1', 'k', { thread: away }))).code, 'key_taken')
    assert.equal(await store.livePart(away), undefined)
  }),

  storeCase('gives each principal keys of its own', async (store) => {
    await commit(store, keyed('bg_0', 'k'), keyed('bg_1', 'k', { thread: bobsHome }))
    const reason = await refused(store, keyed('bg_2', 'k', { thread: bobsHome }))
    assert.deepEqual(reason, { code: 'key_taken', task: 'bg_1', digest: 'digest' })
  }),

  storeCase('tells keys apart that differ in case or blanks only', async (store) => {
    const batch = ['k', 'K', 'k/', '%6b', '"k"'].map((key, n) => keyed(`bg_${n}`, key))
    assert.deepEqual(new Set(await codes(store, batch)), new Set(['committed']))
  }),

  storeCase('says of a key that is only asked for whether it was used, and keeps nothing', async (store) => {
    const ask = (thread = home): Unit => unit({ thread, askKey: 'k' })
    assert.deepEqual(await refused(store, ask()), { code: 'key_free' })
    assert.equal(await store.livePart(home), undefined)
    await commit(store, keyed('bg_0', 'k', {}, 'first'))
    const taken = { code: 'key_taken', task: 'bg_0', digest: 'first' }
    assert.deepEqual([await refused(store, ask()), await refused(store, ask(away))], [taken, taken])
    assert.deepEqual(await refused(store, ask(bobsHome)), { code: 'key_free' })
    assert.equal(await headOf(store), 1)
  }),

  storeCase('keeps no key of a refused unit', async (store) => {
    await refused(store, keyed('bg_0', 'k', { rev: 5 }))
    await commitOne(store, keyed('bg_1', 'k'))
  }),

  storeCase('keeps no key of a batch that failed', async (store) => {
    await failsTheBatch(store, keyed('bg_0', 'k'), accepting(pending('bg_0')))
    await commitOne(store, keyed('bg_1', 'k'))
  }),

  storeCase('says stale of a unit whose key is taken as well', async (store) => {
    await commit(store, keyed('bg_0', 'k'))
    assert.equal((await refused(store, keyed('bg_1', 'k', { rev: 5 }))).code, 'stale')
  }),

  storeCase('refuses the later units of a task whose key was taken', async (store) => {
    await commit(store, accepting(running('bg_5')), keyed('bg_0', 'k'))
    const key = { key: 'k', digest: 'digest', task: taskId('bg_6') }
    assert.deepEqual(await codes(store, [fenced('bg_5', 1, { key }), fenced('bg_5', 1)]), [
      'key_taken',
      'after_refused',
    ])
  }),
]
