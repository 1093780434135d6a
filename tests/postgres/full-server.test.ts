import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { commit, deltas, headOf, unit } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let user: string
let store: Store

/** The store of a user who may have as many connections as the test says. */
beforeEach(async () => {
  schema = testSchema()
  user = `${schema.name}_user`
  await schema.query(`CREATE ROLE ${user} LOGIN`)
  await schema.query(`CREATE SCHEMA ${schema.name} AUTHORIZATION ${user}`)
  const url = new URL(schema.url)
  url.username = user
  store = postgresStore({ url: url.href, warn: () => {} })
  await store.open()
  await commit(store, unit({ events: deltas(1) }))
})

afterEach(async () => {
  await store.close()
  await schema.query(`DROP OWNED BY ${user} CASCADE`)
  await schema.query(`DROP ROLE ${user}`)
})

/** From now on it has those connections that it has, and no more. */
async function fill(): Promise<void> {
  await schema.query(`ALTER ROLE ${user} CONNECTION LIMIT 0`)
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}

describe('a server that has no connection left', () => {
  it('is read over those that a store has, each read in its turn', async () => {
    await fill()
    expect(await Promise.all(Array.from({ length: 20 }, () => store.threads({ limit: 1 })))).toHaveLength(20)
  })

  it('leaves nobody waiting for a connection that is lost meanwhile', async () => {
    const letGo = await schema.hold('LOCK TABLE holdfast.threads')
    await fill()
    const reads = Array.from({ length: 20 }, () => store.threads({ limit: 1 }).then(() => 'read', codeOf))
    const waiting = `FROM pg_stat_activity WHERE usename = '${user}' AND wait_event_type = 'Lock'`
    await expect.poll(() => schema.query(`SELECT ${waiting}`)).toHaveLength(1)
    await schema.query(`SELECT pg_terminate_backend(pid) ${waiting}`)
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['store_unavailable']))
    await letGo()
  })

  it('is asked to decide over those that a store has', async () => {
    await store.renew('node', 60_000)
    await fill()
    const renewals = await Promise.all(Array.from({ length: 10 }, () => store.renew('node', 60_000)))
    expect(renewals.every(({ wasHeld }) => wasHeld)).toBe(true)
  })

  it('refuses what there is no connection for, in words, until there is one', async () => {
    await fill()
    const refusal = { code: 'store_unavailable', message: expect.stringContaining('53300') }
    await expect(store.renew('node', 60_000)).rejects.toMatchObject(refusal)
    await schema.query(`ALTER ROLE ${user} CONNECTION LIMIT -1`)
    await expect
      .poll(() =>
        store.renew('node', 60_000).then(
          () => 'renewed',
          () => 'refused',
        ),
      )
      .toBe('renewed')
    expect(await headOf(store)).toBe(1)
  })
})
