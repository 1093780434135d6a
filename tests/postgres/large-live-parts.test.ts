import { afterEach, beforeEach, expect, it } from 'vitest'
import type { TaskId } from '../../src/core/id.ts'
import type { LivePart } from '../../src/core/live-part.ts'
import type { TaskRecord } from '../../src/core/task.ts'
import { Connection } from '../../src/stores/postgres/connection.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { LivePartReader } from '../../src/stores/postgres/live-part-reader.ts'
import { locate } from '../../src/stores/postgres/location.ts'
import type { Store } from '../../src/stores/store.ts'
import { accepting, commit, ended, home, mailTo, running, unit } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

const mib = 1_048_576
// Some of it goes with the first statement, and several of them with one of the others.
const long = JSON.stringify('é"'.repeat(100_000))

let schema: TestSchema
let store: Store

beforeEach(async () => {
  schema = testSchema()
  store = postgresStore({ url: schema.url })
  await store.open()
  await commit(store, accepting(running('bg_0')))
})

afterEach(async () => {
  await store.close()
  await schema.drop()
})

function child(id: string, result: string): TaskRecord {
  return ended(id, { parent: { task: 'bg_0' as TaskId }, result })
}

const resultsOf = (part: LivePart | undefined) => part?.ended.map(({ id, result }) => [id, result])

it('the ends that a live parent has not read are read, though one answer could not hold them', async () => {
  const many = `INSERT INTO holdfast.tasks (id, thread, principal, type, status, place, ready, taken, closure, node, attempt, epoch,
    first_seq, seq, end_seq, created_at, completed_at, doc, parent, result)
    SELECT 'c_' || s, t.thread, t.principal, t.type, 'completed', 0, false, false, false, '', 1, 1, 0, 0, s, 0, 0, t.doc, t.id,
      '"' || repeat('\\"', $1) || '"'
    FROM holdfast.tasks t, generate_series(1, 34) AS s WHERE t.id = 'bg_0'`
  await schema.query(many, [4 * mib])
  const part = await store.livePart(home)
  expect(part?.ended.map(({ id, result }) => [id, result?.length])).toEqual(
    Array.from({ length: 34 }, (_, n) => [`c_${n + 1}`, 8 * mib + 2]),
  )
})

it('a live part is the same whether its texts are read with it or after it', async () => {
  const children = Array.from({ length: 20 }, (_, n) => child(`bg_${n + 1}`, n % 3 === 0 ? `${n}` : long))
  const mail = Array.from({ length: 20 }, (_, n) =>
    mailTo('bg_0', `m${n}`, { content: n % 3 === 0 ? `${n}` : long, place: n }),
  )
  await commit(store, ...children.map((each) => accepting(each)))
  await commit(store, unit({ mail }))
  const part = await store.livePart(home)
  expect(resultsOf(part)).toEqual(children.map(({ id, result }) => [id, result]))
  expect(part?.mail).toEqual(mail)
})

it('an end is read once, however often other nodes change its thread', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `bg_${n + 1}`)
  await commit(store, ...ids.map((id) => accepting(child(id, long))))
  const first = await store.livePart(home)
  // Nobody would: it shows what is read.
  await schema.query(`UPDATE holdfast.tasks SET result = replace(result, 'é', 'è') WHERE result IS NOT NULL`)
  await commit(store, accepting(child('bg_11', long)))
  const then = await store.livePart(home)
  expect(then?.ended).toHaveLength(11)
  expect(resultsOf(then)?.slice(5)).toEqual([...(resultsOf(first)?.slice(5) ?? []), ['bg_11', long]])
})

it('a live part of which something is removed while the rest of it is read is read anew', async () => {
  const ids = Array.from({ length: 10 }, (_, n) => `bg_${n + 1}`)
  await commit(store, ...ids.map((id) => accepting(child(id, long))))
  const connection = await Connection.open(locate(schema.url), {})
  let count = 0
  const reader = new LivePartReader(async (work) => {
    count += 1
    if (count === 2) await commit(store, unit({ eraseTasks: 11 }), accepting(running('bg_12')))
    return work(connection)
  }, 60_000)
  const part = await reader.read(home)
  expect([part?.tasks.map(({ id }) => id), part?.ended]).toEqual([['bg_12'], []])
  reader.forget()
  await connection.close()
})
