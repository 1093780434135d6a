import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { away, commit, commitOne, deltas, unit } from '../../src/testing/store-suite/builders.ts'
import { type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let store: Store

/** A store that has written, so that its lane is known. */
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

describe('a commit that the server fails, perhaps after it was written', () => {
  it('is told late with what the server says, as where its disk is full', async () => {
    await schema.query(`
      CREATE FUNCTION holdfast.fill() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER fill BEFORE INSERT ON holdfast.chunks EXECUTE FUNCTION holdfast.fill()`)
    const { promise: late, resolve } = Promise.withResolvers<unknown>()
    const committing = store.commit([unit({ events: deltas(1) })], resolve)
    expect(await late).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('No space left on device'),
    })
    await schema.query('DROP TRIGGER fill ON holdfast.chunks')
    expect(await committing).toMatchObject([{ committed: true, first: 2 }])
  })
})

describe('a batch whose transaction takes longer than the server lets it', () => {
  it('is given up, so that what is in it is tried apart and other threads go on', async () => {
    await schema.query(`CREATE FUNCTION holdfast.too_long() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'terminating connection due to transaction timeout' USING ERRCODE = '25P04'; END $$`)
    await schema.query(`CREATE TRIGGER too_long BEFORE UPDATE ON holdfast.threads FOR EACH ROW
      WHEN (NEW.key LIKE '%/home') EXECUTE FUNCTION holdfast.too_long()`)
    const both = [unit({ events: deltas(1) }), unit({ thread: away, events: deltas(1) })]
    await expect(store.commit(both)).rejects.toThrow(/2 units .* longer than it may.*transaction timeout/)
    expect((await commitOne(store, unit({ thread: away, events: deltas(1) }))).first).toBe(1)
    await schema.query('DROP TRIGGER too_long ON holdfast.threads')
    expect((await commitOne(store, unit({ events: deltas(1) }))).first).toBe(2)
  })
})
