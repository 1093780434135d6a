import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { decodeRow, type EventRow } from '../../src/core/event-row.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { accepting, commitOne, event, fenced, logOf, running } from '../../src/testing/store-suite/builders.ts'
import { listening, type TestSchema, testSchema } from './harness/schema.ts'

let schema: TestSchema
let stores: Store[]
let stranger: pg.Client

beforeEach(async () => {
  schema = testSchema()
  stores = [postgresStore({ url: schema.url }), postgresStore({ url: schema.url })]
  for (const store of stores) await store.open()
  stranger = new pg.Client({ connectionString: inject('postgresUrl') })
  await stranger.connect()
})

afterEach(async () => {
  await stranger.end()
  for (const store of stores) await store.close()
  await schema.drop()
})

/** What one store writes and the other hears by what the log has grown. */
async function heardRows(texts: readonly string[]): Promise<EventRow[]> {
  const [one, two] = stores as [Store, Store]
  const rows: EventRow[] = []
  const heard: unknown[] = []
  two.watch((_key, _isChanged, row) => {
    heard.push(row)
    if (row) rows.push(row)
  })
  await expect.poll(() => schema.query(`SELECT ${listening}`)).toHaveLength(1)
  await commitOne(one, accepting(running('bg_0')))
  for (const [n, text] of texts.entries()) {
    const data = JSON.stringify({ text })
    await commitOne(one, fenced('bg_0', 1, { events: [event('text.delta', 'bg_0', { data })] }))
    await expect.poll(() => heard.length).toBeGreaterThan(n + 1)
  }
  return rows
}

describe('notices between nodes', () => {
  it('tell by what a log has grown, as it is stored, and only that it has where it is much', async () => {
    const rows = await heardRows(['ü\u2028\u0000"\\', 'x'.repeat(5_000), '\ud800'])
    const log = (await logOf(stores[1] as Store)).filter(
      ({ type, data }) => type === 'text.delta' && data.length < 1_000,
    )
    expect(log).toHaveLength(2)
    expect(rows.flatMap(decodeRow)).toEqual(log)
  })

  it('are heard by nobody who cannot read the store', async () => {
    const overheard: string[] = []
    stranger.on('notification', ({ payload = '' }) => overheard.push(payload))
    await stranger.query(`LISTEN ${schema.name}; LISTEN holdfast`)
    await heardRows(['a secret'])
    await stranger.query('SELECT 1')
    expect(overheard).toEqual([])
  })

  it('have a channel that is another in every store', async () => {
    const other = testSchema()
    const store = postgresStore({ url: other.url })
    await store.open()
    const channels = [schema, other].map((each) => each.query<{ channel: string }>('SELECT channel FROM holdfast.meta'))
    const [[mine], [yours]] = (await Promise.all(channels)) as [{ channel: string }[], { channel: string }[]]
    expect(mine?.channel).toMatch(/^holdfast_[0-9a-f]{32}$/)
    expect(yours?.channel).not.toBe(mine?.channel)
    await store.close()
    await other.drop()
  })
})
