import assert from 'node:assert/strict'
import { decodeRow } from '../../core/event-row.ts'
import { taskId } from '../../core/id.ts'
import type { EventPage, EventQuery, Store } from '../../stores/store.ts'
import { commit, deltas, event, home, logOf, numbersOf, unit, upTo } from './builders.ts'
import { type StoreCase, storeCase } from './store-case.ts'

function read(store: Store, query: Partial<EventQuery> = {}): Promise<EventPage> {
  return store.events(home, { after: 0, limit: 1000, ...query })
}

/** Ten units of two events for bg_0, three for bg_1 and one for nobody: 60 events. */
async function withSixty(store: Store): Promise<void> {
  for (let n = 0; n < 10; n++) {
    await commit(store, unit({ events: [...deltas(2, 'bg_0'), ...deltas(3, 'bg_1'), ...deltas(1)] }))
  }
}

/** Every page of a query until its pages have covered the log or the task's range. */
async function pagesOf(store: Store, query: EventQuery): Promise<EventPage[]> {
  const pages: EventPage[] = []
  for (let { after } = query; ; ) {
    const page = await store.events(home, { ...query, after })
    pages.push(page)
    if (page.upTo >= Math.min(page.head, query.task?.last ?? page.head)) return pages
    assert.ok(page.upTo > after, `the page after ${after} goes nowhere`)
    after = page.upTo
  }
}

export const eventCases: StoreCase[] = [
  storeCase('gives events back with every field, and leaves absent ones absent', async (store, { clock }) => {
    const whole = event('tool.call', 'bg_0', {
      epoch: 3,
      step: 'plan/fetch#2',
      data: '{"id":"c","name":"n","input":[]}',
    })
    const bare = event('usage')
    await commit(store, unit({ events: [whole, bare] }))
    assert.deepEqual((await read(store)).events, [
      { ...whole, seq: 1, at: clock.now() },
      { ...bare, seq: 2, at: clock.now() },
    ])
  }),

  storeCase('gives the events after a number, for every number', async (store) => {
    await withSixty(store)
    for (let after = 0; after <= 60; after++) {
      const page = await read(store, { after })
      assert.equal(page.events[0]?.seq, after === 60 ? undefined : after + 1)
      assert.equal(page.head, 60)
      assert.equal(page.first, 1)
    }
  }),

  storeCase('gives no more events than asked for', async (store) => {
    await withSixty(store)
    const page = await read(store, { after: 7, limit: 5 })
    assert.ok(page.events.length <= 5)
    assert.equal(page.events[0]?.seq, 8)
    assert.equal(page.upTo, 7 + page.events.length)
  }),

  storeCase('gives the whole log in pages of any size', async (store) => {
    await withSixty(store)
    for (const limit of [1, 2, 7, 59, 60, 61]) assert.deepEqual(numbersOf(await logOf(store, home, limit)), upTo(60))
  }),

  storeCase('covers the whole log with a page that is not full', async (store) => {
    await withSixty(store)
    const pages = await pagesOf(store, { after: 0, limit: 1000 })
    assert.equal(pages.at(-1)?.upTo, 60)
    assert.deepEqual((await read(store, { after: 60 })).upTo, 60)
  }),

  storeCase('gives the head when it is asked for what is ahead of it', async (store) => {
    await withSixty(store)
    assert.deepEqual(await read(store, { after: 61 }), { head: 60, first: 1, events: [], upTo: 60 })
  }),

  storeCase('gives the events of one task only, within its range', async (store) => {
    await withSixty(store)
    const task = { id: taskId('bg_0'), first: 1, last: 56 }
    const events = (await pagesOf(store, { after: 0, limit: 7, task })).flatMap((page) => page.events)
    assert.deepEqual(
      numbersOf(events),
      upTo(60).filter((seq) => seq % 6 === 1 || seq % 6 === 2),
    )
    assert.ok(events.every((entry) => entry.task === 'bg_0'))
  }),

  storeCase('looks at no number outside of the range of the task', async (store) => {
    await withSixty(store)
    const task = { id: taskId('bg_0'), first: 13, last: 20 }
    assert.deepEqual(numbersOf((await read(store, { task })).events), [13, 14, 19, 20])
    assert.deepEqual(numbersOf((await read(store, { after: 13, task })).events), [14, 19, 20])
    assert.deepEqual(numbersOf((await read(store, { after: 20, task })).events), [])
  }),

  storeCase('covers a filtered read up to the end of the range, not beyond', async (store) => {
    await withSixty(store)
    const range = (last: number) => ({ id: taskId('bg_0'), first: 1, last })
    assert.equal((await read(store, { task: range(30) })).upTo, 30)
    assert.equal((await read(store, { task: range(1_000_000) })).upTo, 60)
    assert.equal((await read(store, { after: 40, task: range(30) })).upTo, 40)
    const page = await read(store, { task: range(60), limit: 3 })
    assert.ok(page.upTo >= Number(page.events.at(-1)?.seq) && page.upTo < 13)
  }),

  storeCase('finds the few events of a task among many of others', async (store) => {
    await commit(store, unit({ events: deltas(1, 'bg_7') }))
    for (let n = 0; n < 5; n++) await commit(store, unit({ events: deltas(400, 'bg_8') }))
    await commit(store, unit({ events: deltas(1, 'bg_7') }))
    const pages = await pagesOf(store, { after: 0, limit: 10, task: { id: taskId('bg_7'), first: 1, last: 2002 } })
    assert.deepEqual(numbersOf(pages.flatMap((page) => page.events)), [1, 2002])
  }),

  storeCase('finds nothing for a task whose id only begins or ends like another', async (store) => {
    await commit(store, unit({ events: [...deltas(2, 'bg_11'), ...deltas(2, 'bg_1')] }))
    const task = { id: taskId('bg_1'), first: 1, last: 4 }
    assert.deepEqual(numbersOf((await read(store, { task })).events), [3, 4])
  }),

  storeCase('gives the events of a task of some types only, in pages of any size', async (store) => {
    const said = event('text.delta', 'bg_0', { step: 'answer' })
    for (let n = 0; n < 10; n++) {
      const others = [event('answer', 'bg_1'), event('progress', 'bg_0')]
      await commit(store, unit({ events: [event('answer', 'bg_0'), said, event('task.resumed', 'bg_0'), ...others] }))
    }
    const task = { id: taskId('bg_0'), first: 1, last: 48 }
    for (const limit of [1, 3, 100]) {
      const pages = await pagesOf(store, { after: 0, limit, task, types: ['answer', 'task.resumed'] })
      const expected = upTo(48).filter((seq) => seq % 5 === 1 || seq % 5 === 3)
      assert.deepEqual(numbersOf(pages.flatMap((page) => page.events)), expected)
    }
  }),

  storeCase('finds the few events of a type among many of the same task', async (store) => {
    await commit(store, unit({ events: [event('answer', 'bg_0')] }))
    for (let n = 0; n < 5; n++) await commit(store, unit({ events: deltas(400, 'bg_0') }))
    await commit(store, unit({ events: [event('answer', 'bg_0')] }))
    const task = { id: taskId('bg_0'), first: 1, last: 3000 }
    const pages = await pagesOf(store, { after: 0, limit: 10, task, types: ['answer'] })
    assert.deepEqual(numbersOf(pages.flatMap((page) => page.events)), [1, 2002])
    assert.deepEqual(await read(store, { task, types: ['file'] }), { head: 2002, first: 1, events: [], upTo: 2002 })
  }),

  storeCase('gives the same events at every later reading', async (store, { clock }) => {
    await withSixty(store)
    const before = await logOf(store)
    clock.advance(1000)
    await commit(store, unit({ events: deltas(5, 'bg_0') }))
    assert.deepEqual((await logOf(store)).slice(0, 60), before)
  }),

  storeCase(
    'gives rows of lines that say what the events say, from any number on, where it keeps such rows',
    async (store) => {
      await withSixty(store)
      const log = await logOf(store)
      for (let after = 0; after <= 61; after++) {
        const { rows, events, ...page } = await read(store, { after, asRows: true, limit: 3 })
        if (!rows) return assert.deepEqual({ events, ...page }, await read(store, { after, limit: 3 }))
        assert.deepEqual(rows.flatMap(decodeRow), log.slice(after))
        assert.deepEqual({ events, ...page }, { head: 60, first: 1, events: [], upTo: 60 })
      }
    },
  ),

  storeCase('ends a page of rows soon after a multiple of 1024, wherever it begins', async (store) => {
    for (let n = 0; n < 6; n++) await commit(store, unit({ events: deltas(500, 'bg_0') }))
    const log = await logOf(store)
    const ends: number[] = []
    for (const from of [0, 1000, 1023]) {
      for (let after = from; after < 3000; ) {
        const { rows, upTo } = await read(store, { after, asRows: true })
        if (!rows) return
        assert.deepEqual(rows.flatMap(decodeRow), log.slice(after, upTo))
        if (after === from) ends.push(upTo)
        after = upTo
      }
    }
    assert.ok(ends.every((end) => end >= 1024 && end === ends[0]))
  }),
]
