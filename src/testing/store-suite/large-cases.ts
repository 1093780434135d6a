import assert from 'node:assert/strict'
import { threadOf } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Store, TaskQuery } from '../../stores/store.ts'
import {
  accepting,
  alice,
  commit,
  ended,
  ending,
  event,
  home,
  idsOf,
  pending,
  running,
  taskOf,
  unit,
} from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

/** A text of so many bytes, as JSON. */
function body(bytes: number): string {
  return JSON.stringify('x'.repeat(bytes - 2))
}

/** Tasks that have ended one after the other, the first given first, each in an instant of its own. */
async function endAll(store: Store, clock: { advance(ms: number): void }, ...records: TaskRecord[]): Promise<void> {
  for (const record of records) {
    clock.advance(1)
    const { id, input } = record
    await commit(store, accepting(running(id, input === undefined ? {} : { input })), ending(record))
  }
}

async function say(store: Store, ...lengths: readonly number[]): Promise<void> {
  const events = lengths.map(() => event('message.created'))
  const messages = lengths.map((length, n) => {
    return { id: `m${n + 1}`, role: 'user' as const, parts: `[${body(length - 2)}]`, event: n }
  })
  await commit(store, unit({ events, messages }))
}

async function pagesOf(store: Store, query: Partial<TaskQuery>): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.tasks({ principal: alice, limit: 100, ...query, ...(cursor !== undefined && { cursor }) })
    for (const record of page.tasks) assert.deepEqual(record, await taskOf(store, record.id))
    pages.push(idsOf(page.tasks))
    cursor = page.cursor
    if (cursor === undefined) return pages
  }
}

async function messagePagesOf(store: Store, bytesMax: number): Promise<string[][]> {
  const pages: string[][] = []
  for (let after = 0; ; ) {
    const { messages, cursor } = await store.messages(home, { after, limit: 100, bytesMax })
    pages.push(idsOf(messages))
    if (cursor === undefined) return pages
    after = cursor
  }
}

/** For each task whether its input and its result are there (`i`, `r`) or were left out (`-i`, `-r`). */
function bodiesOf(tasks: readonly (TaskRecord & { readonly inputOmitted?: true; readonly resultOmitted?: true })[]) {
  return Object.fromEntries(
    tasks.map(({ id, input, result, inputOmitted, resultOmitted }) => {
      const words = [input && 'i', inputOmitted && '-i', result && 'r', resultOmitted && '-r']
      return [id, words.filter(Boolean).join(' ')]
    }),
  )
}

export const largeCases: StoreCase[] = [
  storeCase('ends a page of tasks before what would make it too large, and goes on there', async (store, { clock }) => {
    const sizes = [1000, 3000, 1000, 1000, 5000]
    await endAll(store, clock, ...sizes.map((size, n) => ended(`bg_${n}`, { result: body(size) })))
    for (const thread of [{}, { thread: threadOf(home) }]) {
      assert.deepEqual(await pagesOf(store, { ...thread, bytesMax: 4000 }), [
        ['bg_4'],
        ['bg_3', 'bg_2'],
        ['bg_1', 'bg_0'],
      ])
      assert.deepEqual(await pagesOf(store, { ...thread, bytesMax: 4000, limit: 1 }), [
        ['bg_4'],
        ['bg_3'],
        ['bg_2'],
        ['bg_1'],
        ['bg_0'],
      ])
      assert.deepEqual(await pagesOf(store, thread), [['bg_4', 'bg_3', 'bg_2', 'bg_1', 'bg_0']])
    }
  }),

  storeCase('counts what tasks were given into the size of a page', async (store) => {
    await commit(store, ...[0, 1, 2].map((n) => accepting(pending(`bg_${n}`, { input: body(1000), place: n }))))
    assert.deepEqual(await pagesOf(store, { bytesMax: 2000 }), [['bg_2', 'bg_1'], ['bg_0']])
  }),

  storeCase(
    'shows of results that nobody took the first that fit, and says which are left out',
    async (store, { clock }) => {
      const records = [3000, 1000, 3000, 20, 1000].map((size, n) => ended(`bg_${n}`, { result: body(size) }))
      await endAll(store, clock, ...records, ended('bg_5'))
      const shown = async (resultBytesMax: number, whose: Partial<TaskQuery> = { thread: threadOf(home) }) => {
        const query = { principal: alice, ...whose, untaken: true, resultBytesMax, limit: 100 }
        const found = bodiesOf((await store.tasks(query)).tasks)
        return Object.values(found).map((words) => words.trim())
      }
      assert.deepEqual(await shown(4000), ['r', 'r', '-r', 'r', '-r', ''])
      assert.deepEqual(await shown(4000, {}), ['r', 'r', '-r', 'r', '-r', ''])
      assert.deepEqual(await shown(0), ['-r', '-r', '-r', 'r', '-r', ''])
      assert.deepEqual(await shown(100_000), ['r', 'r', 'r', 'r', 'r', ''])
    },
  ),

  storeCase('leaves nothing out of what was not asked for within a size', async (store, { clock }) => {
    await endAll(store, clock, ...[0, 1].map((n) => ended(`bg_${n}`, { input: body(9000), result: body(9000) })))
    const { tasks } = await store.tasks({ principal: alice, untaken: true, limit: 100 })
    assert.deepEqual(bodiesOf(tasks), { bg_0: 'i r', bg_1: 'i r' })
    const snapshot = await store.snapshot(home, { messages: 100, endedTasks: 100 })
    assert.deepEqual(bodiesOf(snapshot?.tasks ?? []), { bg_0: 'i r', bg_1: 'i r' })
  }),

  storeCase('shows in a snapshot the bodies of the tasks that ended last, as many as fit', async (store, { clock }) => {
    await commit(store, accepting(running('bg_9', { input: body(9000) })))
    const given = [500, 20, 500, 500].map((size, n) => ended(`bg_${n}`, { input: body(size), result: body(1000) }))
    await endAll(store, clock, ...given)
    const shown = async (bytesMax: number) => {
      const snapshot = await store.snapshot(home, { messages: 100, endedTasks: 100, bytesMax })
      return bodiesOf(snapshot?.tasks ?? [])
    }
    const live = { bg_9: 'i' }
    assert.deepEqual(await shown(3000), { ...live, bg_0: '-i -r', bg_1: 'i -r', bg_2: 'i r', bg_3: 'i r' })
    assert.deepEqual(await shown(1400), { ...live, bg_0: '-i -r', bg_1: 'i -r', bg_2: '-i -r', bg_3: '-i -r' })
    assert.deepEqual(await shown(100_000), { ...live, bg_0: 'i r', bg_1: 'i r', bg_2: 'i r', bg_3: 'i r' })
  }),

  storeCase('ends a page of messages before what would make it too large, and goes on there', async (store) => {
    await say(store, 1000, 3000, 1000, 1000, 5000)
    assert.deepEqual(await messagePagesOf(store, 4000), [['m1', 'm2'], ['m3', 'm4'], ['m5']])
    assert.deepEqual(await messagePagesOf(store, 1), [['m1'], ['m2'], ['m3'], ['m4'], ['m5']])
    assert.deepEqual(await messagePagesOf(store, 100_000), [['m1', 'm2', 'm3', 'm4', 'm5']])
  }),

  storeCase('gives a cursor with messages only if some follow', async (store) => {
    await say(store, 10, 10, 10)
    const cursorOf = async (limit: number) => (await store.messages(home, { limit })).cursor
    assert.deepEqual([await cursorOf(2), await cursorOf(3)], [2, undefined])
    assert.equal((await store.messages(home, { limit: 2, fromEnd: true })).cursor, undefined)
  }),

  storeCase('shows in a snapshot the last messages that fit, at least one', async (store) => {
    await say(store, 1000, 1000, 3000, 1000)
    const shown = async (bytesMax: number) => {
      const snapshot = await store.snapshot(home, { messages: 100, endedTasks: 100, bytesMax })
      return idsOf(snapshot?.messages ?? [])
    }
    assert.deepEqual(await shown(4000), ['m3', 'm4'])
    assert.deepEqual(await shown(1), ['m4'])
    assert.deepEqual(await shown(100_000), ['m1', 'm2', 'm3', 'm4'])
  }),
]
