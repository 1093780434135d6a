import assert from 'node:assert/strict'
import { taskId, threadId } from '../../core/id.ts'
import type { Store, TaskQuery } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  bobsHome,
  changed,
  commit,
  commitOne,
  ended,
  ending,
  event,
  ids,
  idsOf,
  liveOf,
  pending,
  refused,
  running,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function untaken(store: Store, query: Partial<TaskQuery> = {}): Promise<string[]> {
  return idsOf((await store.tasks({ principal: alice, untaken: true, limit: 100, ...query })).tasks)
}

async function awaited(store: Store): Promise<string[]> {
  return idsOf((await liveOf(store)).ended)
}

/** Accepts the tasks in the order of their numbers and ends them in the order given. */
async function withEnded(store: Store, ...names: string[]): Promise<void> {
  await commit(store, ...names.toSorted().map((id) => accepting(running(id))))
  for (const id of names) await commit(store, ending(ended(id)))
}

const ofParent = { parent: { task: taskId('bg_0') } }

export const resultCases: StoreCase[] = [
  storeCase('takes ended tasks and names them in the order asked', async (store) => {
    await withEnded(store, 'bg_0', 'bg_1', 'bg_2')
    const verdict = await commitOne(store, unit({ operation: 'collect', take: ids('bg_2', 'bg_0') }))
    assert.deepEqual(verdict.taken, ['bg_2', 'bg_0'])
    assert.deepEqual([(await taskOf(store, 'bg_0')).taken, (await taskOf(store, 'bg_1')).taken], [true, false])
  }),

  storeCase('leaves out of what it takes the unknown, the live, the taken and what is asked twice', async (store) => {
    await withEnded(store, 'bg_0', 'bg_1')
    await commit(store, accepting(running('bg_2')), accepting(pending('bg_3')), unit({ take: ids('bg_1') }))
    const take = ids('bg_0', 'bg_1', 'bg_2', 'bg_3', 'bg_9', 'bg_0')
    assert.deepEqual((await commitOne(store, unit({ take }))).taken, ['bg_0'])
    assert.equal((await taskOf(store, 'bg_2')).taken, false)
  }),

  storeCase('takes no run, whose result is in the conversation', async (store) => {
    await commit(store, accepting(ended('bg_0', { type: 'run' })), accepting(ended('bg_1')))
    assert.deepEqual((await commitOne(store, unit({ take: ids('bg_0', 'bg_1') }))).taken, ['bg_1'])
    assert.equal((await taskOf(store, 'bg_0')).taken, false)
  }),

  storeCase('takes nothing of another thread or principal', async (store) => {
    await withEnded(store, 'bg_0')
    assert.deepEqual((await commitOne(store, unit({ thread: away, take: ids('bg_0') }))).taken, [])
    assert.deepEqual((await commitOne(store, unit({ thread: bobsHome, take: ids('bg_0') }))).taken, [])
    assert.equal((await taskOf(store, 'bg_0')).taken, false)
  }),

  storeCase('gives a result to the first of two units that ask for it', async (store) => {
    await withEnded(store, 'bg_0')
    const verdicts = await commit(store, unit({ take: ids('bg_0') }), unit({ take: ids('bg_0') }))
    assert.deepEqual(
      verdicts.map((verdict) => verdict.taken),
      [['bg_0'], []],
    )
  }),

  storeCase('takes a task that ends in the same unit', async (store) => {
    await commit(store, accepting(running('bg_0')))
    assert.deepEqual((await commitOne(store, ending(ended('bg_0'), { take: ids('bg_0') }))).taken, ['bg_0'])
    assert.deepEqual(await untaken(store), [])
  }),

  storeCase('takes nothing by a refused unit', async (store) => {
    await withEnded(store, 'bg_0')
    await refused(store, unit({ rev: 5, take: ids('bg_0') }))
    assert.deepEqual(await untaken(store), ['bg_0'])
  }),

  storeCase('changes nothing of a task but that it is taken', async (store) => {
    await withEnded(store, 'bg_0')
    const before = await taskOf(store, 'bg_0')
    await commit(store, unit({ take: ids('bg_0') }))
    assert.deepEqual(await taskOf(store, 'bg_0'), { ...before, taken: true })
  }),

  storeCase('lists untaken results in the order of their ends', async (store, { clock }) => {
    await commit(store, ...['bg_0', 'bg_1', 'bg_2', 'bg_3'].map((id) => accepting(running(id))))
    await commit(store, ending(ended('bg_2')), ending(ended('bg_1')))
    clock.advance(10)
    await commit(store, ending(ended('bg_3', { status: 'failed' })))
    clock.advance(10)
    await commit(store, ending(ended('bg_0', { status: 'cancelled' })))
    assert.deepEqual(await untaken(store), ['bg_2', 'bg_1', 'bg_3', 'bg_0'])
  }),

  storeCase('lists the ends of one unit in the order of their last events', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1')))
    const events = [event('task.completed', 'bg_1'), event('task.cancelled', 'bg_0')]
    const tasks = [changed(ended('bg_0'), ['completedAt']), changed(ended('bg_1'), ['completedAt'])]
    await commit(store, unit({ operation: 'end', events, tasks }))
    assert.deepEqual(await untaken(store), ['bg_1', 'bg_0'])
  }),

  storeCase('lists no run, no live task and nothing taken as an untaken result', async (store) => {
    await commit(
      store,
      accepting(ended('bg_0', { type: 'run' })),
      accepting(running('bg_1')),
      accepting(pending('bg_2')),
    )
    await commit(store, accepting(ended('bg_3', { taken: true })), accepting(ended('bg_4')))
    assert.deepEqual(await untaken(store), ['bg_4'])
  }),

  storeCase('lists untaken results by thread and principal, with the other filters', async (store) => {
    await commit(
      store,
      accepting(ended('bg_0')),
      accepting(ended('bg_1', { key: away, status: 'failed' })),
      accepting(ended('bg_2', { key: bobsHome })),
    )
    assert.deepEqual((await untaken(store)).toSorted(), ['bg_0', 'bg_1'])
    assert.deepEqual(await untaken(store, { thread: threadId('away') }), ['bg_1'])
    assert.deepEqual(await untaken(store, { status: ['completed'] }), ['bg_0'])
  }),

  storeCase('pages through untaken results without a repeat', async (store) => {
    const names = ['bg_3', 'bg_1', 'bg_2', 'bg_0']
    await withEnded(store, ...names)
    const query = { principal: alice, untaken: true, limit: 2 }
    const { tasks, cursor = '' } = await store.tasks(query)
    assert.deepEqual(idsOf(tasks), ['bg_3', 'bg_1'])
    const last = await store.tasks({ ...query, cursor })
    assert.deepEqual([idsOf(last.tasks), last.cursor], [['bg_2', 'bg_0'], undefined])
  }),

  storeCase('gives the same untaken results to a node that decides, with all that tells their ends', async (store) => {
    await commit(store, accepting(ended('bg_0', { input: '{"a":1}', result: '[1]' })), accepting(ended('bg_1')))
    await commit(store, accepting(ended('bg_2', { key: away })), accepting(pending('bg_3')))
    const query = { principal: alice, thread: threadId('home'), untaken: true, limit: 1 }
    const toDecide = { ...query, toDecide: true } as const
    const [page, same] = [await store.tasks(query), await store.tasks(toDecide)]
    const last = await store.tasks({ ...toDecide, cursor: same.cursor ?? '' })
    assert.deepEqual([same.cursor, idsOf(last.tasks), last.cursor], [page.cursor, ['bg_1'], undefined])
    const [whole, end] = [page.tasks[0], same.tasks[0]]
    assert.deepEqual({ ...end, input: whole?.input }, whole)
  }),

  storeCase('pages through untaken results while earlier ones are taken', async (store) => {
    const names = ['bg_4', 'bg_3', 'bg_2', 'bg_1', 'bg_0']
    await withEnded(store, ...names)
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const query = { principal: alice, untaken: true, limit: 2, ...(cursor !== undefined && { cursor }) }
      const page = await store.tasks(query)
      seen.push(...idsOf(page.tasks))
      await commit(store, unit({ take: page.tasks.map((task) => task.id) }))
      if (page.cursor === undefined) break
      cursor = page.cursor
    }
    assert.deepEqual(seen, names)
  }),

  storeCase('has in the live part the ends that a live parent has not taken', async (store) => {
    await commit(store, accepting(running('bg_0')))
    await commit(store, accepting(running('bg_1', ofParent)), accepting(running('bg_2', ofParent)))
    await commit(store, accepting(running('bg_3')))
    await commit(store, ending(ended('bg_2', ofParent)), ending(ended('bg_1', ofParent)), ending(ended('bg_3')))
    assert.deepEqual(await awaited(store), ['bg_2', 'bg_1'])
    await commit(store, unit({ take: ids('bg_2') }))
    assert.deepEqual(await awaited(store), ['bg_1'])
  }),

  storeCase('has an end no more in the live part when the parent has ended', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(ended('bg_1', ofParent)))
    assert.deepEqual(await awaited(store), ['bg_1'])
    await commit(store, ending(ended('bg_0')))
    assert.deepEqual(await awaited(store), [])
    assert.deepEqual(await untaken(store, { parent: taskId('bg_0') }), ['bg_1'])
  }),

  storeCase('has in the live part the untaken ends that are to wake the thread', async (store) => {
    await commit(store, accepting(ended('bg_1', { wake: 'echo', detached: true, ...ofParent })))
    await commit(
      store,
      accepting(ended('bg_2', { wake: 'echo' })),
      accepting(ended('bg_3', { wake: 'echo', taken: true })),
    )
    assert.deepEqual(await awaited(store), ['bg_1', 'bg_2'])
    await commit(store, unit({ take: ids('bg_1', 'bg_2') }))
    assert.deepEqual(await awaited(store), [])
  }),

  storeCase('has ends in the order in which they came, whoever awaits them', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(running('bg_1')))
    const ofOther = { parent: { task: taskId('bg_1') } }
    await commit(store, accepting(ended('bg_2', ofOther)), accepting(ended('bg_3', ofParent)))
    await commit(store, accepting(ended('bg_4', { wake: 'echo' })), accepting(ended('bg_5', ofOther)))
    assert.deepEqual(await awaited(store), ['bg_2', 'bg_3', 'bg_4', 'bg_5'])
  }),

  storeCase('names an end once that is awaited by a parent and is to wake the thread', async (store) => {
    await commit(store, accepting(running('bg_0')), accepting(ended('bg_1', { wake: 'echo', ...ofParent })))
    assert.deepEqual(await awaited(store), ['bg_1'])
  }),

  storeCase('has the live tasks of a thread in the order of their places', async (store) => {
    await commit(store, accepting(pending('bg_0', { place: 10 })), accepting(pending('bg_1', { place: 9 })))
    await commit(store, accepting(running('bg_2', { place: 100 })), accepting(pending('bg_3', { key: away })))
    assert.deepEqual(idsOf((await liveOf(store)).tasks), ['bg_1', 'bg_0', 'bg_2'])
  }),
]
