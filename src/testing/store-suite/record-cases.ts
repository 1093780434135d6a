import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import {
  accepting,
  added,
  alice,
  away,
  changed,
  commit,
  commitOne,
  deltas,
  ended,
  ending,
  event,
  fenced,
  home,
  ids,
  liveOf,
  pending,
  running,
  starting,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

/** A record with every field it can have, as a task restored from elsewhere brings it. */
const whole: TaskRecord = {
  id: taskId('bg_7'),
  key: home,
  type: 'agent',
  agent: 'research',
  version: '2',
  name: 'scout',
  description: 'look around',
  status: 'cancelled',
  parent: { task: taskId('bg_1'), run: taskId('bg_0'), call: 'call_1', agent: 'lead' },
  detached: true,
  progress: 0.25,
  usage: { inputTokens: 12, outputTokens: 3.5 },
  asked: 'parts',
  input: '{"a":[1,2]}',
  result: 'null',
  error: { code: 'cancelled', message: 'It was cancelled' },
  partial: true,
  unread: ['msg_2', 'msg_3'],
  attempt: 2,
  epoch: 3,
  depth: 2,
  inbox: false,
  ready: false,
  place: 41,
  endPlace: 57,
  node: 'node_9',
  closure: true,
  crashes: 1,
  timeoutMs: 60_000,
  onResult: 'wake',
  wake: 'research',
  stepKey: 'plan/spawn#2',
  steered: 'msg_1',
  taken: true,
  metadata: '{"from":"a form"}',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  cancelRequestedAt: 30,
  cancelReason: { by: 'owner', reason: 'the wrong one' },
  createdAt: 10,
  startedAt: 20,
  completedAt: 40,
  firstSeq: 0,
  startedSeq: 5,
  seq: 0,
}

export const recordCases: StoreCase[] = [
  storeCase('gives a record back with every field', async (store) => {
    await commit(store, unit({ operation: 'restore', tasks: [added(whole, [])] }))
    assert.deepEqual(await taskOf(store, 'bg_7'), whole)
  }),

  storeCase('leaves absent fields absent', async (store) => {
    const record = pending('bg_0')
    await commit(store, unit({ operation: 'restore', tasks: [added(record, [])] }))
    assert.deepEqual(await taskOf(store, 'bg_0'), record)
  }),

  storeCase('gives the same record as task, in the live part, in the list and in the snapshot', async (store) => {
    const record = running('bg_0', { name: 'scout', usage: { tokens: 1 }, parent: { agent: 'lead' } })
    await commit(store, accepting(record), fenced('bg_0', 1, { report: { progress: 0.5 } }))
    const expected = await taskOf(store, 'bg_0')
    const { tasks } = await store.tasks({ principal: alice, limit: 1 })
    assert.deepEqual((await liveOf(store)).tasks, [expected])
    assert.deepEqual(tasks, [expected])
    assert.deepEqual((await store.snapshot(home, { messages: 0, endedTasks: 0 }))?.tasks, [expected])
  }),

  storeCase('keeps what a task was given and what it gave, short or long, over every change', async (store) => {
    const bodies = [0, 300, 400, 500, 5_000].map((length) => JSON.stringify('ü'.repeat(length)))
    for (const [n, input] of bodies.entries()) {
      const id = `bg_${n}`
      await commit(store, accepting(pending(id, { input })), starting(running(id, { input })))
      assert.equal((await taskOf(store, id)).input, input)
      await commit(store, ending(ended(id, { input })))
      for (const result of [...bodies, ...bodies.toReversed(), undefined]) {
        const given = { input, ...(result !== undefined && { result }) }
        await commit(store, unit({ tasks: [changed(ended(id, given))] }))
        const kept = await taskOf(store, id)
        assert.deepEqual([kept.input, kept.result], [input, result])
      }
    }
  }),

  storeCase('knows no task by an id that nobody has', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    assert.equal(await store.task(taskId('bg_1')), undefined)
    assert.equal(await store.task(taskId('')), undefined)
  }),

  storeCase('sets the stamped instants to the clock and takes the others from the record', async (store, { clock }) => {
    const before = clock.now()
    await commit(store, accepting(pending('bg_0', { createdAt: 1 })))
    await commit(store, unit({ tasks: [added(pending('bg_1', { createdAt: 1, startedAt: 2 }), [])] }))
    clock.advance(100)
    await commit(store, starting(running('bg_0')))
    clock.advance(100)
    await commit(store, unit({ tasks: [changed(running('bg_0'), ['cancelRequestedAt'])] }))
    clock.advance(100)
    await commit(store, ending(ended('bg_0')))
    const { createdAt, startedAt, cancelRequestedAt, completedAt } = await taskOf(store, 'bg_0')
    assert.deepEqual(
      [createdAt, startedAt, cancelRequestedAt, completedAt].map((at) => Number(at) - before),
      [0, 100, 200, 300],
    )
    assert.equal((await taskOf(store, 'bg_1')).createdAt, 1)
    assert.equal((await taskOf(store, 'bg_1')).startedAt, 2)
  }),

  storeCase('stamps the start with the last number of its unit', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    await commit(store, starting(running('bg_0'), { events: [event('task.started', 'bg_0'), ...deltas(2)] }))
    assert.equal((await taskOf(store, 'bg_0')).startedSeq, 4)
  }),

  storeCase('replaces a record whole, so a field left out of it is gone', async (store) => {
    await commit(store, accepting(pending('bg_0', { name: 'scout', node: 'node_1' })))
    await commit(store, unit({ tasks: [changed(pending('bg_0', { description: 'another', place: 9 }))] }))
    const record = await taskOf(store, 'bg_0')
    assert.deepEqual([record.description, record.place], ['another', 9])
    assert.deepEqual(
      Object.keys(record).filter((field) => ['name', 'node'].includes(field)),
      [],
    )
  }),

  storeCase('loses no stamp to a record that was decided before the stamp was committed', async (store, { clock }) => {
    const before = clock.now()
    const stale = { createdAt: 0 }
    await commit(
      store,
      accepting(pending('bg_0')),
      starting(running('bg_0', stale)),
      unit({ tasks: [changed(running('bg_0', { ...stale, description: 'on its way' }), ['cancelRequestedAt'])] }),
      ending(ended('bg_0', stale)),
    )
    const record = await taskOf(store, 'bg_0')
    const { createdAt, startedAt, cancelRequestedAt, completedAt } = record
    assert.deepEqual([createdAt, startedAt, cancelRequestedAt, completedAt], [before, before, before, before])
    assert.equal(record.startedSeq, 2)
  }),

  storeCase('stamps anew what a unit stamps again', async (store, { clock }) => {
    await commit(store, accepting(pending('bg_0')), starting(running('bg_0')))
    clock.advance(100)
    await commit(store, starting(running('bg_0', { epoch: 2 })))
    assert.equal((await taskOf(store, 'bg_0')).startedAt, clock.now())
    assert.equal((await taskOf(store, 'bg_0')).startedSeq, 3)
  }),

  storeCase('keeps the first and the last number tagged with a task', async (store) => {
    await commit(store, unit({ events: deltas(3) }), accepting(running('bg_0')), accepting(running('bg_1')))
    await commit(store, fenced('bg_1', 1, { events: deltas(2, 'bg_1') }), unit({ events: deltas(4) }))
    const { firstSeq, seq } = await taskOf(store, 'bg_0')
    assert.deepEqual([firstSeq, seq], [4, 4])
    const other = await taskOf(store, 'bg_1')
    assert.deepEqual([other.firstSeq, other.seq], [5, 7])
  }),

  storeCase('moves the last number by a tag in a unit of another task', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1')))
    const events = [event('task.completed', 'bg_0'), event('task.cancelling', 'bg_1'), event('text.delta')]
    await commit(store, fenced('bg_0', 1, { events, tasks: [changed(ended('bg_0'))] }))
    assert.equal((await taskOf(store, 'bg_0')).seq, 3)
    assert.equal((await taskOf(store, 'bg_1')).seq, 4)
  }),

  storeCase('moves the last number of an ended task by a tag that comes after its end', async (store) => {
    await commit(store, accepting(ended('bg_0')), accepting(ended('bg_1')), unit({ events: deltas(2, 'bg_0') }))
    const { firstSeq, seq } = await taskOf(store, 'bg_0')
    assert.deepEqual([firstSeq, seq], [1, 4])
    assert.deepEqual((await commitOne(store, unit({ take: ids('bg_0', 'bg_1') }))).taken, ['bg_0', 'bg_1'])
    assert.deepEqual((await store.tasks({ principal: alice, untaken: true, limit: 9 })).tasks, [])
  }),

  storeCase('keeps first and last number when a record that does not know them replaces another', async (store) => {
    await commit(store, unit({ events: deltas(2) }), accepting(pending('bg_0')))
    await commit(store, unit({ tasks: [changed(running('bg_0', { firstSeq: 0, seq: 0 }))] }))
    const { firstSeq, seq } = await taskOf(store, 'bg_0')
    assert.deepEqual([firstSeq, seq], [3, 3])
  }),

  storeCase('has no numbers for a task without events, until the first comes', async (store) => {
    await commit(store, unit({ events: deltas(5), tasks: [added(running('old', { firstSeq: 90, seq: 99 }))] }))
    const { firstSeq, seq } = await taskOf(store, 'old')
    assert.deepEqual([firstSeq, seq], [0, 0])
    await commit(store, unit({ events: deltas(2, 'old') }))
    const later = await taskOf(store, 'old')
    assert.deepEqual([later.firstSeq, later.seq], [6, 7])
  }),

  storeCase('minds tags of its own thread only', async (store) => {
    await commit(store, accepting(running('bg_0')), unit({ thread: away, events: deltas(9, 'bg_0') }))
    assert.equal((await taskOf(store, 'bg_0')).seq, 1)
  }),

  storeCase('merges what a task reports into its record', async (store) => {
    await commit(store, accepting(running('bg_0', { usage: { in: 1, out: 1 } })))
    await commit(store, fenced('bg_0', 1, { report: { progress: 0.5 } }))
    await commit(store, fenced('bg_0', 1, { report: { usage: { in: 5 } } }))
    const { progress, usage } = await taskOf(store, 'bg_0')
    assert.deepEqual([progress, usage], [0.5, { in: 5 }])
  }),

  storeCase('keeps what a task reported when a record decided before replaces another', async (store) => {
    await commit(store, accepting(running('bg_0', { progress: 0.1, usage: { in: 1 } })))
    const older = await taskOf(store, 'bg_0')
    await commit(store, fenced('bg_0', 1, { report: { progress: 0.5, usage: { in: 5 } } }))
    await commit(store, unit({ rev: 0, tasks: [changed(older, ['cancelRequestedAt'])] }))
    const { progress, usage, cancelRequestedAt } = await taskOf(store, 'bg_0')
    assert.deepEqual([progress, usage], [0.5, { in: 5 }])
    assert.ok(cancelRequestedAt)
  }),

  storeCase('keeps what a task reported earlier in the batch of such a record', async (store) => {
    await commit(store, accepting(running('bg_0')))
    const older = await taskOf(store, 'bg_0')
    const report = fenced('bg_0', 1, { report: { progress: 0.5, usage: { in: 5 } } })
    await commit(store, report, unit({ rev: 0, tasks: [changed(older, ['cancelRequestedAt'])] }))
    await commit(store, fenced('bg_0', 1, { report: { progress: 0.6 }, tasks: [changed(older)] }))
    const { progress, usage } = await taskOf(store, 'bg_0')
    assert.deepEqual([progress, usage], [0.6, { in: 5 }])
  }),

  storeCase('stores what of a report the record decides, and keeps the rest of it', async (store) => {
    await commit(store, accepting(running('bg_0', { usage: { in: 1 } })))
    const completed = { ...changed(ended('bg_0', { progress: 1 }), ['completedAt']), reports: ['progress'] as const }
    await commit(store, fenced('bg_0', 1, { report: { progress: 0.5, usage: { in: 5 } }, tasks: [completed] }))
    const { progress, usage } = await taskOf(store, 'bg_0')
    assert.deepEqual([progress, usage], [1, { in: 5 }])
  }),

  storeCase('takes away what of a report the record decides and does not have', async (store) => {
    await commit(store, accepting(running('bg_0', { progress: 0.5, usage: { in: 5 } })))
    const resumed = { ...changed(running('bg_0', { attempt: 2 })), reports: ['progress', 'usage'] as const }
    await commit(store, unit({ rev: 0, tasks: [resumed] }))
    const record = await taskOf(store, 'bg_0')
    assert.deepEqual(['progress' in record, 'usage' in record], [false, false])
  }),

  storeCase('tells the instant and the numbers it stamped in the verdict', async (store, { clock }) => {
    clock.advance(77)
    const verdict = await commitOne(store, accepting(pending('bg_0')))
    const { createdAt, firstSeq } = await taskOf(store, 'bg_0')
    assert.deepEqual({ committed: true, first: firstSeq, at: createdAt, taken: [] }, verdict)
  }),
]
