import { afterEach, beforeEach, expect, it } from 'vitest'
import { threadId, threadKey } from '../../src/core/id.ts'
import type { Unit } from '../../src/core/unit.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { accepting, alice, commit, ended, ending, event, running } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let store: Store

beforeEach(async () => {
  schema = testSchema()
  store = postgresStore({ url: schema.url })
  await store.open()
})

afterEach(async () => {
  await store.close()
  await schema.drop()
})

const count = 20
const key = (n: number) => threadKey(alice, threadId(`t${n}`))
const task = (n: number) => running(`bg_${n}`, { key: key(n), epoch: 1 })
const emitting = (n: number): Unit => ({
  operation: 'emit',
  thread: key(n),
  fence: { task: task(n).id, epoch: 1 },
  events: [event('custom', task(n).id)],
})
const endingOf = (n: number): Unit => ending(ended(`bg_${n}`, { key: key(n), epoch: 1 }), { thread: key(n) })

/** How many entries of indexes were read. A connection tells when it ends. */
async function readCount(): Promise<number> {
  const sql = `SELECT sum(idx_tup_read)::int AS count FROM pg_stat_user_indexes
    WHERE schemaname = $1 AND relname IN ('tasks', 'threads')`
  const [row] = await schema.query<{ count: number }>(sql, [schema.name])
  return row?.count ?? 0
}

it.for([
  ['emits', emitting],
  ['ends', endingOf],
] as const)(
  'a batch of %s reads about as many rows as it writes, though it was planned while the tables had one',
  async ([, unitOf]) => {
    await schema.query('ALTER TABLE holdfast.tasks SET (autovacuum_enabled = off)')
    await schema.query('ALTER TABLE holdfast.threads SET (autovacuum_enabled = off)')
    await commit(store, accepting(task(0)))
    await schema.query('ANALYZE holdfast.tasks, holdfast.threads')
    await commit(store, unitOf(0))
    await commit(store, ...Array.from({ length: count }, (_, n) => accepting(task(n + 1))))
    await schema.query(`INSERT INTO holdfast.threads (key, principal, first, head, rev, wakes, at)
    SELECT 'other/' || s, 'other', 1, 0, 0, 0, 0 FROM generate_series(1, 5000) AS s`)
    await schema.query(`INSERT INTO holdfast.tasks (id, thread, principal, type, status, place, ready, taken, closure, node, attempt,
      epoch, first_seq, seq, created_at, doc)
    SELECT 'other_' || s, 0, 'other', 'agent', 'running', 0, false, false, false, '', 1, 1, 0, 0, 0, '{}'
    FROM generate_series(1, 5000) AS s`)
    const before = await readCount()
    await commit(store, ...Array.from({ length: count }, (_, n) => unitOf(n + 1)))
    await store.close()
    await expect.poll(readCount).toBeGreaterThan(before)
    expect((await readCount()) - before).toBeLessThan(1_000)
  },
)
