import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import {
  accepting,
  changed,
  commit,
  deltas,
  fenced,
  home,
  liveOf,
  logOf,
  mailTo,
  pending,
  refused,
  running,
  step,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

export const isolationCases: StoreCase[] = [
  storeCase('is not changed by what a caller does to an object it passed in', async (store) => {
    const usage = { tokens: 1 }
    const record = { ...running('bg_0', { usage }), parent: { agent: 'lead' } }
    const later = { ...running('bg_1', { usage }), parent: { agent: 'lead' } }
    const report = { usage }
    const put = { ...changed(later), reports: ['usage'] as const }
    await commit(store, accepting(record), accepting(pending('bg_1')), unit({ tasks: [put] }))
    await commit(store, accepting(running('bg_2')), fenced('bg_2', 1, { report }))
    usage.tokens = 2
    record.parent.agent = 'changed'
    later.parent.agent = 'changed'
    Reflect.set(record, 'status', 'failed')
    Reflect.set(report, 'usage', {})
    const kept = await Promise.all(['bg_0', 'bg_1', 'bg_2'].map((id) => taskOf(store, id)))
    assert.deepEqual(
      kept.map((task) => [task.status, task.usage, task.parent]),
      [
        ['running', { tokens: 1 }, { agent: 'lead' }],
        ['running', { tokens: 1 }, { agent: 'lead' }],
        ['running', { tokens: 1 }, undefined],
      ],
    )
  }),

  storeCase('is not changed by what a caller does to events, mail, steps and keys it passed in', async (store) => {
    const events = deltas(2, 'bg_0')
    const mail = [mailTo('bg_0', 'a')]
    const steps = [step('bg_0', 'a', { failure: { name: 'Error', message: 'no' } })]
    const key = { key: 'k', digest: 'first', task: taskId('bg_0') }
    await commit(store, accepting(running('bg_0'), { events, mail, steps, key }))
    Reflect.set(events[0] ?? {}, 'data', '{"changed":1}')
    events.pop()
    Reflect.set(mail[0] ?? {}, 'content', 'changed')
    Reflect.set(steps[0]?.failure ?? {}, 'message', 'changed')
    key.digest = 'changed'
    assert.deepEqual(
      (await logOf(store)).map((entry) => entry.data),
      ['{"text":"0"}', '{"text":"1"}'],
    )
    assert.equal((await liveOf(store)).mail[0]?.content, '"hello"')
    assert.equal((await store.steps(taskId('bg_0')))[0]?.failure?.message, 'no')
    assert.deepEqual(await refused(store, unit({ key })), { code: 'key_taken', task: 'bg_0', digest: 'first' })
  }),

  storeCase('is not changed by what a caller does to an object it got back', async (store) => {
    await commit(
      store,
      accepting(running('bg_0', { usage: { tokens: 1 }, error: { code: 'budget', message: 'over' } })),
    )
    const record = await taskOf(store, 'bg_0')
    const part = await liveOf(store)
    const page = await store.events(home, { after: 0, limit: 1 })
    const before = structuredClone({ record, part, page })
    Reflect.set(record, 'status', 'failed')
    Reflect.set(record.usage ?? {}, 'tokens', 2)
    Reflect.set(record.error ?? {}, 'message', 'changed')
    Reflect.set(part.tasks, 'length', 0)
    Reflect.set(page.events[0] ?? {}, 'data', 'changed')
    Reflect.set(page.events, 'length', 0)
    assert.deepEqual(await taskOf(store, 'bg_0'), before.record)
    assert.deepEqual(await liveOf(store), before.part)
    assert.deepEqual(await store.events(home, { after: 0, limit: 1 }), before.page)
  }),
]
