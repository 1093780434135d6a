import { afterEach, beforeEach, expect, it } from 'vitest'
import { threadId } from '../../src/core/id.ts'
import { emptyPart } from '../../src/core/live-part.ts'
import { readUntaken } from '../../src/runtime/read-untaken.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { accepting, alice, commit, ended, home, idsOf } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let store: Store

beforeEach(async () => {
  schema = testSchema()
  store = postgresStore({ url: schema.url, readers: 1 })
  await store.open()
})

afterEach(async () => {
  await store.close()
  await schema.drop()
})

it('what a wake is decided by waits for nothing that users read', async () => {
  await commit(store, accepting(ended('bg_0')), accepting(ended('bg_1')))
  const letGo = await schema.hold('LOCK TABLE holdfast.messages IN ACCESS EXCLUSIVE MODE')
  let isRead = false
  const reads = [
    store.messages(home, { limit: 1 }),
    store.tasks({ principal: alice, thread: threadId('home'), untaken: true, limit: 1 }),
  ].map((reading) =>
    reading.then(() => {
      isRead = true
    }),
  )
  expect(idsOf(await readUntaken(store, emptyPart(home)))).toEqual(['bg_0', 'bg_1'])
  expect(isRead).toBe(false)
  await letGo()
  await Promise.all(reads)
})

it('what nobody took in a thread is found without a look at what was taken, or at other threads', async () => {
  await commit(store, accepting(ended('bg_0')))
  const others = `INSERT INTO holdfast.tasks (id, thread, principal, type, status, place, ready, taken, closure, node, attempt, epoch,
    first_seq, seq, end_seq, created_at, completed_at, doc)
    SELECT 'old_' || s, t.thread + s % 2, t.principal, t.type, t.status, 0, false, s % 2 = 0, false, '', 1, 1, 0, 0, 0, 0, 0, t.doc
    FROM holdfast.tasks t, generate_series(1, 10000) AS s WHERE t.id = 'bg_0'`
  await schema.query(others)
  await schema.query('ANALYZE holdfast.tasks')
  const readCount = async () => {
    const sql = `SELECT sum(idx_tup_read)::int AS count FROM pg_stat_user_indexes WHERE schemaname = $1 AND relname = 'tasks'`
    const [row] = await schema.query<{ count: number }>(sql, [schema.name])
    return row?.count ?? 0
  }
  const before = await readCount()
  expect(idsOf(await readUntaken(store, emptyPart(home)))).toEqual(['bg_0'])
  await store.close()
  await expect.poll(readCount).toBeGreaterThan(before)
  expect((await readCount()) - before).toBeLessThan(100)
})
