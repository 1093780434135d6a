import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  added,
  alice,
  away,
  changed,
  commit,
  deltas,
  ended,
  ending,
  event,
  failsTheBatch,
  home,
  ids,
  liveOf,
  logOf,
  mailTo,
  offerOf,
  pending,
  running,
  starting,
  step,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

const spawned = { parent: { task: taskId('bg_0') }, stepKey: 'spawn#1' }

/** The batch fails, an earlier good unit of it leaves nothing behind, and the store goes on. */
async function failsWhole(store: Store, ...units: Unit[]): Promise<void> {
  const before = await pictureOf(store)
  const good = unit({
    rev: (await store.livePart(home))?.rev ?? 0,
    wakes: 7,
    events: [event('message.created'), ...deltas(2)],
    tasks: [added(running('good', { name: 'good', node: 'node_5' }))],
    messages: [{ id: 'good', role: 'user', parts: '[]', event: 0 }],
    mail: [mailTo('good', 'good')],
    steps: [step('good', 'good')],
  })
  await failsTheBatch(store, good, unit({ thread: away, events: deltas(1) }), ...units)
  assert.deepEqual(await pictureOf(store), before)
  await commit(store, good)
}

async function pictureOf(store: Store): Promise<unknown> {
  return {
    log: await logOf(store),
    live: await store.livePart(home),
    away: await store.livePart(away),
    snapshot: await store.snapshot(home, { messages: 100, endedTasks: 100 }),
    tasks: await store.tasks({ principal: alice, limit: 100 }),
    threads: await store.threads({ principal: alice, limit: 100 }),
    steps: await store.steps(taskId('good')),
    claim: await offerOf(store, { withCounts: true }),
  }
}

const run = { type: 'run' }

export const safetyCases: StoreCase[] = [
  storeCase('fails a batch that accepts one task twice', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    await failsWhole(store, accepting(pending('bg_0')))
    await failsTheBatch(store, accepting(pending('bg_0', { key: away })))
    await failsTheBatch(store, accepting(pending('bg_1')), accepting(pending('bg_1')))
  }),

  storeCase('fails a batch that changes a task nobody accepted', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    await failsWhole(store, starting(running('bg_0')))
  }),

  storeCase('fails a batch that changes a task of another thread', async (store) => {
    await commit(store, accepting(pending('bg_0')))
    await failsTheBatch(store, unit({ thread: away, tasks: [changed(running('bg_0', { key: away }))] }))
    await failsTheBatch(store, unit({ thread: away, tasks: [changed(running('bg_0'))] }))
    await failsTheBatch(store, unit({ tasks: [added(pending('bg_1', { key: away }))] }))
    assert.equal(await store.livePart(away), undefined)
  }),

  storeCase('fails a batch that gives two live tasks of a thread one name', async (store) => {
    await commit(store, accepting(pending('bg_0', { name: 'scout' })))
    await failsWhole(store, accepting(running('bg_1', { name: 'scout' })))
  }),

  storeCase('fails a batch that names a live task like another later on', async (store) => {
    await commit(store, accepting(pending('bg_0', { name: 'scout' })), accepting(pending('bg_1', { name: 'clerk' })))
    await failsWhole(store, unit({ tasks: [changed(pending('bg_1', { name: 'scout' }))] }))
  }),

  storeCase('frees a name with the end of its task, in the same unit too', async (store) => {
    await commit(store, accepting(running('bg_0', { name: 'scout' })), accepting(pending('bg_9', { name: 'Scout' })))
    const tasks = [changed(ended('bg_0', { name: 'scout' })), added(pending('bg_1', { name: 'scout' }))]
    await commit(store, unit({ tasks }), ending(ended('bg_1', { name: 'scout' })))
    await commit(store, accepting(pending('bg_2', { name: 'scout' })))
    await failsTheBatch(store, accepting(pending('bg_3', { name: 'scout' })))
  }),

  storeCase('lets two threads use one name', async (store) => {
    await commit(store, accepting(running('bg_0', { name: 'scout' })))
    await commit(store, accepting(running('bg_1', { name: 'scout', key: away })))
  }),

  storeCase('fails a batch that makes a second run of a thread running', async (store) => {
    await commit(store, accepting(running('bg_0', run)), accepting(pending('bg_1', run)))
    await failsWhole(store, starting(running('bg_1', run)))
  }),

  storeCase('lets the next run start in the unit that ends the one before', async (store) => {
    await commit(store, accepting(running('bg_0', run)), accepting(pending('bg_1', run)))
    await commit(store, unit({ tasks: [changed(ended('bg_0', run)), changed(running('bg_1', run))] }))
    assert.deepEqual(
      (await liveOf(store)).tasks.map((task) => [task.id, task.status]),
      [['bg_1', 'running']],
    )
  }),

  storeCase('lets other tasks run beside a run, and runs of other threads', async (store) => {
    await commit(store, accepting(running('bg_0', run)), accepting(running('bg_1')), accepting(running('bg_2')))
    await commit(store, accepting(running('bg_3', { ...run, key: away })), accepting(pending('bg_4', run)))
  }),

  storeCase('fails a batch that spawns twice by one step of a parent', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', spawned)))
    await failsWhole(store, accepting(pending('bg_2', spawned)))
  }),

  storeCase('remembers what a step spawned after the child has ended', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', spawned)), ending(ended('bg_1', spawned)))
    await failsWhole(store, accepting(pending('bg_2', spawned)))
  }),

  storeCase('lets other steps and other parents spawn', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1', spawned)))
    await commit(store, accepting(running('bg_2', { ...spawned, stepKey: 'spawn#2' })))
    await commit(store, accepting(running('bg_3', { ...spawned, parent: { task: taskId('bg_1') } })))
    const { stepKey: _, ...plain } = spawned
    await commit(store, accepting(running('bg_4', plain)), accepting(running('bg_5', plain)))
    await commit(
      store,
      accepting(running('bg_6', { stepKey: 'spawn#1' })),
      accepting(running('bg_7', { stepKey: 'spawn#1' })),
    )
  }),

  storeCase('fails a batch that records a step twice', async (store) => {
    await commit(store, accepting(running('bg_0'), { steps: [step('bg_0', 'a')] }))
    await failsWhole(store, unit({ steps: [step('bg_0', 'a', { value: '2' })] }))
    await failsTheBatch(store, unit({ steps: [step('bg_0', 'b'), step('bg_0', 'b')] }))
    assert.deepEqual(
      (await store.steps(taskId('bg_0'))).map((record) => record.value),
      ['1'],
    )
  }),

  storeCase('fails a batch that gives two messages of a thread one id', async (store) => {
    const said = unit({ events: deltas(1), messages: [{ id: 'm', role: 'user', parts: '[]', event: 0 }] })
    await commit(store, said)
    await failsWhole(store, said)
  }),

  storeCase('fails a batch whose message names an event that the unit does not have', async (store) => {
    await commit(store, unit({ events: deltas(1) }))
    await failsWhole(store, unit({ events: deltas(1), messages: [{ id: 'm', role: 'user', parts: '[]', event: 1 }] }))
  }),

  storeCase('fails a batch that sends unread mail of a thread twice', async (store) => {
    await commit(store, accepting(running('bg_0'), { mail: [mailTo('bg_0', 'a')] }))
    await failsWhole(store, unit({ mail: [mailTo('bg_0', 'a')] }))
  }),

  storeCase('takes back what a failed batch read, took, forgot and ended', async (store) => {
    await commit(store, accepting(running('bg_0', { name: 'scout' }), { mail: [mailTo('bg_0', 'a')] }))
    await commit(
      store,
      unit({ steps: [step('bg_0', 'a'), step('bg_0', 'b')] }),
      accepting(ended('bg_1', { wake: 'echo' })),
    )
    const before = { picture: await pictureOf(store), steps: await store.steps(taskId('bg_0')) }
    const undone = [
      unit({ read: ['a'], take: ids('bg_1'), forget: ids('bg_0') }),
      ending(ended('bg_0', { name: 'scout' })),
      accepting(pending('bg_2', { name: 'scout' })),
    ]
    await failsTheBatch(store, ...undone, accepting(pending('bg_2')))
    assert.deepEqual({ picture: await pictureOf(store), steps: await store.steps(taskId('bg_0')) }, before)
    await commit(store, ...undone)
  }),

  storeCase('leaves the task numbers of a failed batch out of what it allocates from', async (store) => {
    await failsTheBatch(store, accepting(pending('bg_3')), accepting(pending('bg_3')))
    await commit(store, accepting(pending('bg_3')))
    assert.equal(await store.allocate(1), 4)
  }),
]
