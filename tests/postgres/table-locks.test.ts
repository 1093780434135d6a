import { afterEach, beforeEach, expect, it } from 'vitest'
import { Connection, type Statement } from '../../src/stores/postgres/connection.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { locate } from '../../src/stores/postgres/location.ts'
import { lastingLocks } from '../../src/stores/postgres/table-locks.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let connection: Connection

beforeEach(async () => {
  schema = testSchema()
  const store = postgresStore({ url: schema.url })
  await store.open().finally(() => store.close())
  connection = await Connection.open(locate(schema.url), {})
})

afterEach(async () => {
  await connection.close()
  await schema.drop()
})

it('a lock lasts that is there at every look, and those of sessions that take turns do not', async () => {
  await schema.hold('LOCK TABLE holdfast.chunks IN EXCLUSIVE MODE')
  const take = () => schema.hold('LOCK TABLE holdfast.tasks IN EXCLUSIVE MODE')
  let release = await take()
  const asking = {
    async query<Row>(statement: Statement): Promise<Row[]> {
      const rows = await connection.query<Row>(statement)
      await release()
      release = await take()
      return rows
    },
  }
  expect(await lastingLocks(asking, schema.name)).toMatchObject([{ table: 'chunks' }])
})
