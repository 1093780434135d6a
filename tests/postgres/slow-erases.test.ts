import { describe, expect, it } from 'vitest'
import type { Runtime } from '../../src/index.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { severalNodes } from './several-nodes.ts'

const nodes = severalNodes()
const thread = 'long'

/** A node with a thread of so many runs, and what it logs as an error. */
async function filled(runs: number): Promise<{ readonly one: Runtime; readonly errors: readonly string[] }> {
  const errors: string[] = []
  const log = { ...silentLogger, error: (_facts: object, text: string) => void errors.push(text) }
  const one = await nodes.open({ agents: { echo: () => 'done' }, leaseMs: 1_500, log })
  for (let n = 0; n < runs; n++) await one.wait((await one.run({ thread, agent: 'echo', prompt: 'go' })).id)
  return { one, errors }
}

/** From now on the server does not get done in time what removes something from a table, until it is mended. */
async function slowDown(table: string): Promise<() => Promise<unknown>> {
  await nodes.schema.query(`CREATE FUNCTION holdfast.lag() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$`)
  await nodes.schema.query(`CREATE TRIGGER lag AFTER DELETE ON holdfast.${table} EXECUTE FUNCTION holdfast.lag()`)
  return () => nodes.schema.query(`DROP TRIGGER lag ON holdfast.${table}`)
}

describe('what the server does not remove in time makes no store that is down, and goes when it can', () => {
  it.each([
    { what: 'the last of a thread', table: 'messages', runs: 1, retention: { threadsMs: 3_600_000 } },
    { what: 'some tasks of a thread', table: 'tasks', runs: 25, retention: { threadsMs: 3_600_000 } },
    { what: 'the front of a log', table: 'chunks', runs: 3, retention: { eventsPerThread: 1 } },
  ])('$what', async ({ table, runs, retention }) => {
    const { one, errors } = await filled(runs)
    await nodes.schema.query('UPDATE holdfast.threads SET at = 0')
    const mend = await slowDown(table)
    expect(await one.prune(retention)).toMatchObject({ threads: 0, skipped: 1 })
    expect(errors).toEqual(['the store cannot take a unit'])
    expect(await one.isReady()).toBe(true)
    expect(await one.run({ thread: 'other', agent: 'echo', prompt: 'go' })).toMatchObject({ thread: 'other' })
    await mend()
    const { events, skipped } = await one.prune(retention)
    expect([events > 0, skipped]).toEqual([true, undefined])
  })
})

it('a delete that the server does not get done in time is refused as what may be asked again, and is done then', async () => {
  const { one } = await filled(1)
  const mend = await slowDown('messages')
  await expect(one.deleteThread(thread)).rejects.toMatchObject({
    code: 'store_unavailable',
    facts: { retryAfterMs: expect.any(Number) },
  })
  expect(await one.isReady()).toBe(true)
  await mend()
  await one.deleteThread(thread)
  expect((await one.thread(thread)).messages).toEqual([])
})
