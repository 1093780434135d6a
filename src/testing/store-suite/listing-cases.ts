import assert from 'node:assert/strict'
import { isHoldfastError } from '../../core/errors.ts'
import { taskId, threadId, threadKey } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Store, TaskQuery, ThreadSummary } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  bob,
  bobsHome,
  commit,
  deltas,
  ended,
  home,
  idsOf,
  pending,
  running,
  starting,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

async function listed(store: Store, query: Partial<TaskQuery> = {}): Promise<string[]> {
  return idsOf((await store.tasks({ principal: alice, limit: 100, ...query })).tasks)
}

async function pagesOf(store: Store, query: TaskQuery, between = async (): Promise<void> => {}): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.tasks({ ...query, ...(cursor !== undefined && { cursor }) })
    pages.push(idsOf(page.tasks))
    if (page.cursor === undefined) return pages
    cursor = page.cursor
    await between()
  }
}

async function threadsOf(store: Store, limit: number): Promise<ThreadSummary[][]> {
  const pages: ThreadSummary[][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.threads({ principal: alice, limit, ...(cursor !== undefined && { cursor }) })
    pages.push([...page.threads])
    if (page.cursor === undefined) return pages
    cursor = page.cursor
  }
}

function namesOf(threads: readonly ThreadSummary[]): string[] {
  return threads.map((summary) => summary.thread)
}

const mixed: TaskRecord[] = [
  running('bg_0', { type: 'run' }),
  pending('bg_1', { type: 'run', place: 1 }),
  running('bg_2', { name: 'scout', parent: { task: taskId('bg_0') } }),
  ended('bg_3', { name: 'clerk', parent: { task: taskId('bg_0') }, key: away }),
  ended('bg_4', { status: 'failed', type: 'index' }),
  ended('bg_5', { status: 'cancelled', type: 'index', name: 'scout' }),
]

async function withMixed(store: Store): Promise<void> {
  await commit(store, ...mixed.map((record) => accepting(record)))
}

function isBadCursor(error: unknown): boolean {
  return isHoldfastError(error, 'invalid_request')
}

export const listingCases: StoreCase[] = [
  storeCase('lists the tasks of a principal over all threads, the last accepted first', async (store, { clock }) => {
    await withMixed(store)
    clock.advance(-1000)
    await commit(store, accepting(pending('bg_6', { key: threadKey(alice, threadId('third')) })))
    assert.deepEqual(await listed(store), ['bg_6', 'bg_5', 'bg_4', 'bg_3', 'bg_2', 'bg_1', 'bg_0'])
  }),

  storeCase('does not move a task in the list when it changes', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1')), starting(running('bg_0')))
    assert.deepEqual(await listed(store), ['bg_1', 'bg_0'])
  }),

  storeCase('lists in the order of acceptance whatever the ids are', async (store) => {
    await commit(store, ...['zeta', 'bg_10', 'alpha', 'bg_9'].map((id) => accepting(pending(id))))
    assert.deepEqual(await listed(store), ['bg_9', 'alpha', 'bg_10', 'zeta'])
  }),

  storeCase('never lists a task of another principal', async (store) => {
    await commit(store, accepting(pending('bg_0')), accepting(pending('bg_1', { key: bobsHome })))
    assert.deepEqual(await listed(store), ['bg_0'])
    assert.deepEqual(await listed(store, { thread: threadId('home') }), ['bg_0'])
    assert.deepEqual(await listed(store, { principal: bob }), ['bg_1'])
  }),

  storeCase('lists by thread', async (store) => {
    await withMixed(store)
    assert.deepEqual(await listed(store, { thread: threadId('away') }), ['bg_3'])
    assert.deepEqual(await listed(store, { thread: threadId('nowhere') }), [])
  }),

  storeCase('lists by status, one or several', async (store) => {
    await withMixed(store)
    assert.deepEqual(await listed(store, { status: ['running'] }), ['bg_2', 'bg_0'])
    assert.deepEqual(await listed(store, { status: ['failed', 'pending'] }), ['bg_4', 'bg_1'])
  }),

  storeCase('lists by the status a task has now', async (store) => {
    await commit(store, accepting(pending('bg_0')), starting(running('bg_0')))
    assert.deepEqual(await listed(store, { status: ['pending'] }), [])
    assert.deepEqual(await listed(store, { status: ['running'] }), ['bg_0'])
  }),

  storeCase('lists by type, one or several', async (store) => {
    await withMixed(store)
    assert.deepEqual(await listed(store, { type: ['run'] }), ['bg_1', 'bg_0'])
    assert.deepEqual(await listed(store, { type: ['index', 'agent'] }), ['bg_5', 'bg_4', 'bg_3', 'bg_2'])
    assert.deepEqual(await listed(store, { type: ['Run'] }), [])
  }),

  storeCase('lists by name, ended tasks too', async (store) => {
    await withMixed(store)
    assert.deepEqual(await listed(store, { name: 'scout' }), ['bg_5', 'bg_2'])
    assert.deepEqual(await listed(store, { name: 'sco' }), [])
  }),

  storeCase('lists by parent', async (store) => {
    await withMixed(store)
    assert.deepEqual(await listed(store, { parent: taskId('bg_0') }), ['bg_3', 'bg_2'])
    assert.deepEqual(await listed(store, { parent: taskId('bg_2') }), [])
  }),

  storeCase('lists the tasks that no task spawned', async (store) => {
    await withMixed(store)
    await commit(store, accepting(pending('bg_6', { parent: { call: 'call_1' } })))
    const thread = threadId('home')
    assert.deepEqual(await listed(store, { roots: true }), ['bg_6', 'bg_5', 'bg_4', 'bg_1', 'bg_0'])
    assert.deepEqual(await listed(store, { roots: true, thread, status: ['running', 'completed'] }), ['bg_0'])
    assert.deepEqual(await listed(store, { roots: true, untaken: true }), ['bg_4', 'bg_5'])
    assert.deepEqual(await listed(store, { roots: true, name: 'scout' }), ['bg_5'])
    assert.deepEqual(await listed(store, { roots: true, parent: taskId('bg_0') }), [])
    assert.deepEqual(await pagesOf(store, { principal: alice, roots: true, limit: 3 }), [
      ['bg_6', 'bg_5', 'bg_4'],
      ['bg_1', 'bg_0'],
    ])
  }),

  storeCase('lists what passes every filter at once', async (store) => {
    await withMixed(store)
    const thread = threadId('home')
    assert.deepEqual(await listed(store, { thread, name: 'scout', status: ['cancelled'], type: ['index'] }), ['bg_5'])
    assert.deepEqual(await listed(store, { thread, parent: taskId('bg_0'), status: ['completed'] }), [])
  }),

  storeCase('pages through a list without a repeat and ends without a cursor', async (store) => {
    await withMixed(store)
    assert.deepEqual(await pagesOf(store, { principal: alice, limit: 4 }), [
      ['bg_5', 'bg_4', 'bg_3', 'bg_2'],
      ['bg_1', 'bg_0'],
    ])
    assert.deepEqual(await pagesOf(store, { principal: alice, limit: 3 }), [
      ['bg_5', 'bg_4', 'bg_3'],
      ['bg_2', 'bg_1', 'bg_0'],
    ])
  }),

  storeCase('pages through a filtered list', async (store) => {
    await withMixed(store)
    const query = { principal: alice, thread: threadId('home'), status: ['running', 'failed'] as const, limit: 1 }
    assert.deepEqual(await pagesOf(store, query), [['bg_4'], ['bg_2'], ['bg_0']])
  }),

  storeCase('does not shift the later pages when tasks are accepted meanwhile', async (store) => {
    await withMixed(store)
    let next = 6
    const pages = await pagesOf(store, { principal: alice, limit: 2 }, async () => {
      await commit(store, accepting(pending(`bg_${next++}`)))
    })
    assert.deepEqual(pages, [
      ['bg_5', 'bg_4'],
      ['bg_3', 'bg_2'],
      ['bg_1', 'bg_0'],
    ])
  }),

  storeCase('refuses a cursor that no page gave', async (store) => {
    await withMixed(store)
    for (const cursor of ['', 'x', '-1', '1e3', "'", '1.2.3.4.5', 'null']) {
      await assert.rejects(store.tasks({ principal: alice, limit: 1, cursor }), isBadCursor, `tasks: ${cursor}`)
      await assert.rejects(store.tasks({ principal: alice, limit: 1, cursor, untaken: true }), isBadCursor, cursor)
      await assert.rejects(store.threads({ principal: alice, limit: 1, cursor }), isBadCursor, `threads: ${cursor}`)
    }
  }),

  storeCase('lists threads by their newest event, the newest first', async (store, { clock }) => {
    const begin = clock.now()
    for (const name of ['one', 'two', 'three', 'one']) {
      clock.advance(10)
      await commit(store, unit({ thread: threadKey(alice, threadId(name)), events: deltas(2) }))
    }
    assert.deepEqual((await threadsOf(store, 10)).flat(), [
      { thread: 'one', head: 4, first: 1, at: begin + 40 },
      { thread: 'three', head: 2, first: 1, at: begin + 30 },
      { thread: 'two', head: 2, first: 1, at: begin + 20 },
    ])
  }),

  storeCase('does not move a thread in the list by a unit without events', async (store, { clock }) => {
    await commit(store, unit({ events: deltas(1) }))
    clock.advance(10)
    await commit(store, unit({ thread: away, events: deltas(1) }))
    clock.advance(10)
    await commit(store, unit({ rev: 0 }))
    assert.deepEqual(namesOf((await threadsOf(store, 10)).flat()), ['away', 'home'])
  }),

  storeCase('pages through threads without a repeat, also through those of one instant', async (store, { clock }) => {
    const names = ['b', 'a', 'C', 'a.b', 'a:b', 'a~b', '0']
    const keys = names.map((name) => threadKey(alice, threadId(name)))
    await commit(store, ...keys.map((thread) => unit({ thread, events: deltas(1) })))
    clock.advance(10)
    await commit(store, unit({ thread: home, events: deltas(1) }))
    const pages = await threadsOf(store, 2)
    assert.deepEqual(pages.map(namesOf), [
      ['home', '0'],
      ['C', 'a'],
      ['a.b', 'a:b'],
      ['a~b', 'b'],
    ])
  }),

  storeCase('never lists a thread of another principal', async (store) => {
    await commit(store, unit({ thread: bobsHome, events: deltas(1) }))
    assert.deepEqual(await threadsOf(store, 10), [[]])
  }),
]
