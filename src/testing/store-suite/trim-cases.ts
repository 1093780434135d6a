import assert from 'node:assert/strict'
import { taskId } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'
import type { Store } from '../../stores/store.ts'
import {
  accepting,
  alice,
  away,
  bobsHome,
  codes,
  commit,
  commitOne,
  deltas,
  ended,
  event,
  failsTheBatch,
  fenced,
  headOf,
  home,
  liveOf,
  logOf,
  numbersOf,
  running,
  taskOf,
  unit,
} from './builders.ts'
import { contentOf, erasing, fill } from './filled-thread.ts'
import { type StoreCase, storeCase } from './store-case.ts'

function trimming(upTo: number): Unit {
  return unit({ operation: 'trim', trim: upTo })
}

/** `count` events in as many commits, so that no two are in one row. */
async function write(store: Store, count: number, thread = home): Promise<void> {
  for (let n = 0; n < count; n++) await commit(store, unit({ thread, events: deltas(1) }))
}

async function firstOf(store: Store, thread = home): Promise<number> {
  return (await store.events(thread, { after: Number.MAX_SAFE_INTEGER, limit: 1 })).first
}

/** Trims until nothing more goes, and says how much went. */
async function trimAll(store: Store, upTo: number): Promise<number> {
  for (let count = 0; ; ) {
    const { removed } = await commitOne(store, trimming(upTo))
    assert.ok(removed, 'a trim says what it removed')
    assert.equal(removed.tasks, 0)
    if (removed.events === 0) return count
    count += removed.events
  }
}

export const trimCases: StoreCase[] = [
  storeCase('trims the front of a log up to a number, and moves its first', async (store) => {
    await write(store, 9)
    assert.equal(await trimAll(store, 4), 4)
    assert.equal(await firstOf(store), 5)
    assert.deepEqual(numbersOf(await logOf(store)), [5, 6, 7, 8, 9])
    await commit(store, unit({ events: deltas(1) }))
    assert.equal(await headOf(store), 10)
  }),

  storeCase('never trims a number above the one named, in whatever rows the events are', async (store) => {
    await commit(store, unit({ events: deltas(10) }))
    await commit(store, unit({ events: deltas(10) }))
    for (const upTo of [0, 4, 9, 10, 13, 19]) {
      await trimAll(store, upTo)
      const first = await firstOf(store)
      assert.ok(first <= upTo + 1, `${first} after a trim to ${upTo}`)
      const whole = Array.from({ length: 21 - first }, (_, n) => first + n)
      assert.deepEqual(numbersOf(await logOf(store)), whole)
    }
    assert.ok((await firstOf(store)) >= 11, 'a whole row was left')
    await trimAll(store, 20)
    assert.equal(await firstOf(store), 21)
    assert.deepEqual(await logOf(store), [])
  }),

  storeCase('trims nothing twice, and nothing of a log that begins later', async (store) => {
    await write(store, 6)
    await trimAll(store, 3)
    assert.equal(await trimAll(store, 3), 0)
    assert.equal(await trimAll(store, 1), 0)
    assert.equal(await firstOf(store), 4)
  }),

  storeCase('trims no message, task, result, key, step or revision', async (store) => {
    await fill(store, home, 'home')
    const { log: _log, snapshot: _snapshot, ...before } = (await contentOf(store, home, 'home')) as Content
    await trimAll(store, 7)
    const { log, snapshot, ...after } = (await contentOf(store, home, 'home')) as Content
    assert.deepEqual(after, before)
    assert.deepEqual(log, [])
    assert.equal(snapshot.first, 8)
    assert.equal((await liveOf(store)).rev, 1)
  }),

  storeCase('trims no other thread', async (store) => {
    await write(store, 3, away)
    await write(store, 3, bobsHome)
    await write(store, 3)
    await trimAll(store, 3)
    assert.deepEqual([await firstOf(store), await firstOf(store, away), await firstOf(store, bobsHome)], [4, 1, 1])
  }),

  storeCase('reads a log that was trimmed from its first on, whatever is asked for', async (store) => {
    await commit(store, accepting(running('bg_0')))
    for (let n = 0; n < 6; n++) await commit(store, fenced('bg_0', 1))
    await trimAll(store, 4)
    const page = await store.events(home, { after: 0, limit: 2 })
    assert.deepEqual([page.first, page.head, numbersOf(page.events), page.upTo], [5, 7, [5, 6], 6])
    const task = { id: taskId('bg_0'), first: 1, last: 7 }
    assert.deepEqual(numbersOf((await store.events(home, { after: 5, limit: 9, task })).events), [6, 7])
    const gone = { id: taskId('bg_0'), first: 1, last: 3 }
    assert.deepEqual((await store.events(home, { after: 4, limit: 9, task: gone })).events, [])
    const { firstSeq, seq } = await taskOf(store, 'bg_0')
    assert.deepEqual([firstSeq, seq], [1, 7])
  }),

  storeCase('goes on numbering and appending while it trims, in one batch too', async (store) => {
    await write(store, 5)
    const verdicts = await commit(store, unit({ events: deltas(2) }), trimming(5), unit({ events: deltas(1) }))
    assert.deepEqual(
      verdicts.map((verdict) => verdict.first),
      [6, 8, 8],
    )
    await trimAll(store, 5)
    assert.deepEqual(numbersOf(await logOf(store)), [6, 7, 8])
  }),

  storeCase('lets what was decided before a trim be committed after it', async (store) => {
    await commit(store, accepting(ended('bg_0'), { rev: 0 }))
    const later = accepting(ended('bg_1'), { rev: 1 })
    assert.deepEqual(await codes(store, [trimming(1), later]), ['committed', 'committed'])
  }),

  storeCase('takes a trim back with a batch that fails', async (store) => {
    await write(store, 5)
    await commit(store, accepting(running('bg_0')))
    await failsTheBatch(store, trimming(4), accepting(running('bg_0')))
    assert.equal(await firstOf(store), 1)
    assert.deepEqual(numbersOf(await logOf(store)), [1, 2, 3, 4, 5, 6])
    assert.equal(await trimAll(store, 4), 4)
  }),

  storeCase('trims a long log in steps, each of which is bounded and takes something', async (store) => {
    const data = JSON.stringify({ text: 'x'.repeat(200_000) })
    for (let n = 0; n < 12; n++) await commit(store, unit({ events: [event('text.delta', undefined, { data })] }))
    await commit(store, unit({ events: deltas(3000) }))
    const { removed } = await commitOne(store, trimming(3011))
    assert.ok(removed && removed.events > 0, 'a step takes something')
    await trimAll(store, 3012)
    assert.equal(await firstOf(store), 3013)
  }),

  storeCase('says what an erase removed, which may leave traces if it is told so', async (store) => {
    await fill(store, home, 'home')
    const { removed } = await commitOne(store, erasing(1, { leavesTraces: true }))
    assert.deepEqual(removed, { events: 7, tasks: 2 })
    assert.deepEqual(await store.tasks({ principal: alice, limit: 9 }), { tasks: [] })
    const again = await commitOne(store, erasing(2))
    assert.deepEqual(again.removed, { events: 0, tasks: 0 })
  }),

  storeCase('erases some tasks with all that hangs on them, and nothing else of the thread', async (store) => {
    await fill(store, home, 'home')
    await fill(store, away, 'away')
    const { log, messages } = (await contentOf(store, home, 'home')) as Content
    const elsewhere = await contentOf(store, away, 'away')
    const erasingTasks = (rev: number) => unit({ operation: 'erase', rev, eraseTasks: 1 })
    const counts = (await commit(store, erasingTasks(1), erasingTasks(2), erasingTasks(3))).map(
      ({ removed }) => removed,
    )
    assert.deepEqual(counts, [
      { events: 0, tasks: 1 },
      { events: 0, tasks: 1 },
      { events: 0, tasks: 0 },
    ])
    const after = (await contentOf(store, home, 'home')) as Content
    assert.deepEqual([after.log, after.messages], [log, messages])
    assert.deepEqual([after.tasks, after.listed, after.key], [[undefined, undefined], [], { code: 'key_free' }])
    assert.deepEqual([after.steps, (await liveOf(store)).rev], [[[], []], 4])
    assert.deepEqual(await contentOf(store, away, 'away'), elsewhere)
    assert.deepEqual(await codes(store, [erasingTasks(3), fenced('home_0', 1)]), ['stale', 'fenced'])
  }),

  storeCase('erases with a task what was said in it, and nothing that was said in others', async (store) => {
    const said = (task: string): Unit => {
      const message = { id: `${task}.user`, role: 'user' as const, parts: '[]', task: taskId(task), event: 0 }
      return unit({ events: [event('message.created', task)], messages: [message] })
    }
    await commit(store, accepting(running('bg_0'), { rev: 0 }), accepting(running('bg_1')), said('bg_1'), said('bg_0'))
    await commit(store, said('bg_none'), unit({ operation: 'erase', rev: 1, eraseTasks: 1 }))
    const left = async () => (await store.messages(home, { limit: 9 })).messages.map(({ id }) => id)
    assert.deepEqual(await left(), ['bg_1.user', 'bg_none.user'])
    await commit(store, unit({ operation: 'erase', rev: 2, eraseTasks: 1 }))
    assert.deepEqual(await left(), ['bg_none.user'])
  }),

  storeCase('erases what is left of a log that was trimmed', async (store) => {
    await write(store, 5)
    await trimAll(store, 3)
    const { removed } = await commitOne(store, erasing(0))
    assert.deepEqual(removed, { events: 2, tasks: 0 })
    assert.equal(await firstOf(store), 6)
  }),

  storeCase('lists the threads of all principals, page by page, with whose they are', async (store) => {
    for (const thread of [bobsHome, home, away]) await write(store, 2, thread)
    await commit(store, unit({ thread: away, operation: 'erase', rev: 0, erase: true }))
    await write(store, 1, away)
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await store.threads({ limit: 1, ...(cursor !== undefined && { cursor }) })
      found.push(...page.threads.map(({ principal, thread, first, head }) => `${principal}/${thread} ${first}-${head}`))
      cursor = page.cursor
      if (cursor === undefined) break
    }
    assert.deepEqual(found.toSorted(), ['alice/away 3-3', 'alice/home 1-2', 'bob/home 1-2'])
    assert.equal(found[2], 'bob/home 1-2', 'principals come one after the other')
    const all = await store.threads({ limit: 9 })
    assert.deepEqual(
      all.threads.map(({ principal, thread }) => `${principal}/${thread}`),
      found.map((line) => line.split(' ')[0]),
    )
    const own = await store.threads({ principal: alice, limit: 9 })
    assert.ok(own.threads.every((thread) => !('principal' in thread)))
    await assert.rejects(store.threads({ limit: 1, cursor: 'no cursor' }), { code: 'invalid_request' })
  }),
]

interface Content extends Readonly<Record<'log' | 'messages' | 'tasks' | 'listed' | 'key' | 'steps', unknown>> {
  readonly snapshot: { readonly first: number }
}
