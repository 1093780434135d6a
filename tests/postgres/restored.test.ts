import { describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { commit, deltas, headOf, unit } from '../../src/testing/store-suite/builders.ts'
import { severalNodes } from './several-nodes.ts'

const nodes = severalNodes()

describe('a schema that is gone, as while a copy is put in its place', () => {
  it('makes the store unavailable to all that is asked of it, and nothing is held against what was to be written', async () => {
    const { url, name, query } = nodes.schema
    const store = postgresStore({ url })
    await store.open()
    await commit(store, unit({ events: deltas(1) }))
    await query(`ALTER SCHEMA ${name} RENAME TO ${name}_gone`)
    const asked = [
      () => store.commit([unit({ events: deltas(1) })]),
      () => store.commit([]),
      () => store.renew('node', 60_000),
      () => store.allocate(1),
      () => headOf(store),
    ]
    for (const ask of asked) {
      const refusal = { code: 'store_unavailable', message: expect.stringContaining('holdfast doctor') }
      await expect(ask()).rejects.toMatchObject(refusal)
    }
    await query(`ALTER SCHEMA ${name}_gone RENAME TO ${name}`)
    await commit(store, unit({ events: deltas(1) }))
    expect(await headOf(store)).toBe(2)
    await store.close()
  })
})
