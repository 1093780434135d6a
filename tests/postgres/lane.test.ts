import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { commit, deltas, unit } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let store: Store

beforeEach(async () => {
  schema = testSchema()
  store = postgresStore({ url: schema.url })
  await store.open()
  await commit(store, unit({ events: deltas(1) }))
})

afterEach(async () => {
  await store.close()
  await schema.drop()
})

it('L4 with nothing on its way a batch is sent before its commit returns, and else when that was answered', async () => {
  const written = vi.spyOn(Socket.prototype, 'write')
  const first = store.commit([unit({ events: deltas(1) })])
  const sent = written.mock.calls.length
  expect(sent).toBeGreaterThan(0)
  const second = store.commit([unit({ events: deltas(1) })])
  expect(written).toHaveBeenCalledTimes(sent)
  expect((await Promise.all([first, second])).flat()).toMatchObject([{ committed: true }, { committed: true }])
})
