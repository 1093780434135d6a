import { expect, inject, it, onTestFinished } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { away, commitOne, deltas, event, unit } from '../../src/testing/store-suite/builders.ts'
import { startProxy } from './harness/proxy.ts'
import { testSchema } from './harness/schema.ts'

it('a batch that never gets to a server that can be reached is given up, and others are written', async () => {
  const schema = testSchema()
  const proxy = await startProxy(Number(new URL(inject('postgresUrl')).port))
  const store = postgresStore({ url: proxy.through(schema.url) })
  onTestFinished(async () => {
    await store.close()
    await proxy.close()
    await schema.drop()
  })
  await store.open()
  await store.renew('node', 1_500)
  proxy.swallowLarge()
  const large = unit({ events: [event('custom', undefined, { data: JSON.stringify('x'.repeat(2_000_000)) })] })
  const small = unit({ thread: away, events: deltas(1) })
  await expect(store.commit([large, small])).rejects.toThrow(/2 units .* longer than it may/)
  expect((await commitOne(store, small)).first).toBe(1)
  await expect(store.commit([large])).rejects.toThrow(/1 unit .* longer than it may/)
  expect((await commitOne(store, small)).first).toBe(2)
})
