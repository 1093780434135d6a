import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Store } from '../../stores/store.ts'
import { accepting, commit, deltas, fenced, ids, refused, running, step, unit } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function keysOf(store: Store, task: string): Promise<string[]> {
  return (await store.steps(taskId(task))).map((record) => record.key)
}

async function withTwoTasks(store: Store): Promise<void> {
  await commit(store, accepting(running('bg_0')), accepting(running('bg_1')))
}

export const stepCases: StoreCase[] = [
  storeCase('gives a step back with every field, at the head of its unit', async (store) => {
    await withTwoTasks(store)
    const value = step('bg_0', 'plan/fetch#2', {
      kind: 'tool',
      input: 'digest',
      value: '{"a":1}',
      overlapped: true,
      attempt: 3,
    })
    const failure = { name: 'TypeError', message: 'no such thing', code: 'ENOENT' }
    const { value: _, ...failed } = step('bg_0', 'other', { failure })
    await commit(store, fenced('bg_0', 1, { events: deltas(3, 'bg_0'), steps: [value] }))
    await commit(store, fenced('bg_0', 1, { events: [], steps: [failed] }), fenced('bg_1', 1))
    assert.deepEqual(await store.steps(taskId('bg_0')), [
      { ...value, seq: 5 },
      { ...failed, seq: 5 },
    ])
  }),

  storeCase('tells a step without a value from one whose value is null', async (store) => {
    await withTwoTasks(store)
    const { value: _, ...none } = step('bg_0', 'none')
    await commit(store, fenced('bg_0', 1, { steps: [none, step('bg_0', 'null', { value: 'null' })] }))
    const steps = await store.steps(taskId('bg_0'))
    assert.deepEqual(
      steps.map((record) => ['value' in record, record.value]),
      [
        [false, undefined],
        [true, 'null'],
      ],
    )
  }),

  storeCase('gives steps in the order of their recording', async (store) => {
    await withTwoTasks(store)
    await commit(store, fenced('bg_0', 1, { steps: [step('bg_0', 'z'), step('bg_0', 'a')] }))
    await commit(
      store,
      fenced('bg_0', 1, { steps: [step('bg_0', 'm')] }),
      fenced('bg_0', 1, { steps: [step('bg_0', 'b')] }),
    )
    assert.deepEqual(await keysOf(store, 'bg_0'), ['z', 'a', 'm', 'b'])
  }),

  storeCase('gives the step alone that was recorded last', async (store) => {
    await withTwoTasks(store)
    assert.deepEqual(await store.steps(taskId('bg_0'), 'last'), [])
    await commit(store, fenced('bg_0', 1, { steps: [step('bg_0', 'z'), step('bg_0', 'm', { attempt: 2 })] }))
    await commit(store, fenced('bg_1', 1, { steps: [step('bg_1', 'zz')] }))
    const last = await store.steps(taskId('bg_0'), 'last')
    assert.deepEqual(last, (await store.steps(taskId('bg_0'))).slice(1))
    assert.equal(last[0]?.attempt, 2)
  }),

  storeCase('keeps the steps of two tasks apart', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ steps: [step('bg_0', 'a'), step('bg_1', 'a'), step('bg_1', 'b')] }))
    assert.deepEqual(await keysOf(store, 'bg_0'), ['a'])
    assert.deepEqual(await keysOf(store, 'bg_1'), ['a', 'b'])
    assert.deepEqual(await keysOf(store, 'bg_2'), [])
  }),

  storeCase('tells step keys apart that differ in case, blanks or accents only', async (store) => {
    await withTwoTasks(store)
    const keys = ['a', 'A', 'a ', 'ä', 'a\u0308', 'a#2']
    await commit(store, fenced('bg_0', 1, { steps: keys.map((key) => step('bg_0', key)) }))
    assert.deepEqual(await keysOf(store, 'bg_0'), keys)
  }),

  storeCase('records no step of a refused unit', async (store) => {
    await withTwoTasks(store)
    await refused(store, fenced('bg_0', 2, { steps: [step('bg_0', 'a')] }))
    assert.deepEqual(await keysOf(store, 'bg_0'), [])
  }),

  storeCase('drops the steps of a forgotten task, and of no other', async (store) => {
    await withTwoTasks(store)
    await commit(store, unit({ steps: [step('bg_0', 'a'), step('bg_1', 'a')] }))
    await commit(store, unit({ steps: [step('bg_0', 'b')], forget: ids('bg_0', 'unknown') }))
    assert.deepEqual(await keysOf(store, 'bg_0'), [])
    assert.deepEqual(await keysOf(store, 'bg_1'), ['a'])
  }),
]
