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

const key = (n: number) => threadKey(alice, threadId(`t${n}`))
const task = (n: number) => running(`bg_${n}`, { key: key(n), epoch: 1 })
const left = (n: number) => ended(`bg_${n}`, { key: key(0), epoch: 1 })

interface Batch {
  /** What was there before. */
  readonly before: (n: number) => Unit
  /** What it is of, given the numbers of what was there; the same kind is planned with one of them. */
  readonly of: (numbers: readonly number[]) => readonly Unit[]
}

const emits: Batch = {
  before: (n) => accepting(task(n)),
  of: (numbers) =>
    numbers.map((n) => ({
      operation: 'emit',
      thread: key(n),
      fence: { task: task(n).id, epoch: 1 },
      events: [event('custom', task(n).id)],
    })),
}
const ends: Batch = {
  before: (n) => accepting(task(n)),
  of: (numbers) => numbers.map((n) => ending(ended(`bg_${n}`, { key: key(n), epoch: 1 }), { thread: key(n) })),
}
const forgets: Batch = {
  before: (n) => accepting(task(n)),
  of: (numbers) => numbers.map((n) => ({ operation: 'end', thread: key(n), events: [], forget: [task(n).id] })),
}
const acceptances: Batch = {
  before: (n) => accepting(task(n + 1000)),
  of: (numbers) => numbers.map((n) => accepting(task(n))),
}
const takes: Batch = {
  before: (n) => accepting(left(n)),
  of: (numbers) => [{ operation: 'collect', thread: key(0), events: [], take: numbers.map((n) => left(n).id) }],
}

const tables = ['tasks', 'threads', 'steps', 'mail'] as const
const allTables = tables.map((table) => `holdfast.${table}`).join()

const others = [
  `INSERT INTO holdfast.threads (key, principal, first, head, rev, wakes, at)
    SELECT 'other/' || s, 'other', 1, 0, 0, 0, 0 FROM generate_series(1, 5000) AS s`,
  `INSERT INTO holdfast.tasks (id, thread, principal, type, status, place, ready, taken, closure, node, attempt, epoch, first_seq, seq, created_at, doc)
    SELECT 'other_' || s, 0, 'other', 'agent', 'running', 0, false, false, false, '', 1, 1, 0, 0, 0, '{}' FROM generate_series(1, 5000) AS s`,
  `INSERT INTO holdfast.steps (task, key, seq, doc) SELECT 'other_' || s, 'k', 1, '{}' FROM generate_series(1, 5000) AS s`,
  `INSERT INTO holdfast.mail (thread, task, id, place, content, doc)
    SELECT 0, 'other_' || s, 'm' || s, 1, '{}', '{}' FROM generate_series(1, 5000) AS s`,
]

/** How many entries of indexes were read. A connection tells when it ends. */
async function readCount(): Promise<number> {
  const sql = `SELECT sum(idx_tup_read)::int AS count FROM pg_stat_user_indexes
    WHERE schemaname = $1 AND relname = ANY ($2)`
  const [row] = await schema.query<{ count: number }>(sql, [schema.name, tables])
  return row?.count ?? 0
}

it.for([
  ['emits', emits],
  ['ends', ends],
  ['ends that forget', forgets],
  ['acceptances', acceptances],
  ['takes', takes],
] as const)(
  'a batch of %s reads about as many rows as it writes, though it was planned while the tables had one',
  async ([, { before, of }]) => {
    for (const table of tables) await schema.query(`ALTER TABLE holdfast.${table} SET (autovacuum_enabled = off)`)
    await commit(store, before(0))
    await schema.query(`INSERT INTO holdfast.steps (task, key, seq, doc) VALUES ('one', 'k', 1, '{}')`)
    await schema.query(
      `INSERT INTO holdfast.mail (thread, task, id, place, content, doc) VALUES (0, 'one', 'm', 1, '{}', '{}')`,
    )
    await schema.query(`ANALYZE ${allTables}`)
    await commit(store, ...of([0]))
    const numbers = Array.from({ length: 20 }, (_, n) => n + 1)
    await commit(store, ...numbers.map(before))
    for (const sql of others) await schema.query(sql)
    const countBefore = await readCount()
    await commit(store, ...of(numbers))
    await store.close()
    await expect.poll(readCount).toBeGreaterThan(countBefore)
    expect((await readCount()) - countBefore).toBeLessThan(1_000)
  },
)
