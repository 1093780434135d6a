import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../src/core/event.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { commit, commitOne, event, home, unit } from '../../../src/testing/store-suite/builders.ts'

let folder: string
let path: string
let store: Store

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
  store = sqliteStore({ path, clock: { now: () => 1_800_000_000_000 } })
  await store.open()
})

afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

function said(length: number): EventDraft {
  return event('text.delta', undefined, { data: JSON.stringify({ text: 'x'.repeat(length) }) })
}

/** Each event in a commit of its own, and so in a row of its own. */
async function writeRows(count: number, length = 10): Promise<void> {
  for (let n = 0; n < count; n++) await commit(store, unit({ events: [said(length)] }))
}

async function trim(upTo: number): Promise<number> {
  const { removed } = await commitOne(store, unit({ operation: 'trim', trim: upTo }))
  return removed?.events ?? 0
}

function pragma(name: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true })
  const value = Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
  database.close()
  return value
}

const logBytes = () => statSync(`${path}-wal`).size

describe('a trim of a SQLite store', () => {
  it('removes at most 128 rows at a time', async () => {
    await writeRows(310)
    const steps = [await trim(300), await trim(300), await trim(300), await trim(300)]
    expect(steps).toEqual([128, 128, 44, 0])
  })

  it('removes about a quarter of a mebibyte at a time, and a row that is larger all the same', async () => {
    await writeRows(8, 60_000)
    expect(await trim(8)).toBe(4)
    await store.commit([unit({ events: [said(2_000_000)] })])
    await writeRows(1)
    expect([await trim(9), await trim(9), await trim(9)]).toEqual([4, 1, 0])
  })

  it('leaves a row that holds more than may go as it is', async () => {
    await commit(store, unit({ events: [said(1), said(1), said(1)] }))
    expect(await trim(2)).toBe(0)
    expect(await trim(3)).toBe(3)
  })

  it('that finds nothing to remove writes nothing', async () => {
    await commit(store, unit({ events: [said(1), said(1), said(1)] }))
    const before = logBytes()
    for (let n = 0; n < 3; n++) expect(await trim(2)).toBe(0)
    expect(logBytes()).toBe(before)
    expect(await trim(3)).toBe(3)
    expect(logBytes()).toBeGreaterThan(before)
  })

  it('gives its pages back to the file, which is no larger for what comes next', async () => {
    await writeRows(40, 60_000)
    while ((await trim(40)) > 0);
    expect(pragma('freelist_count')).toBeGreaterThan(200)
    const before = pragma('page_count')
    await writeRows(30, 60_000)
    expect(pragma('page_count')).toBe(before)
    expect(pragma('integrity_check')).toBe('ok')
    await store.close()
    await store.open()
    expect(await store.events(home, { after: 69, limit: 1 })).toMatchObject({ head: 70, first: 41 })
  })

  it('that may leave traces is not followed by a pass over the file', async () => {
    await writeRows(5)
    await commit(store, unit({ operation: 'erase', rev: 0, erase: true, leavesTraces: true }))
    const log = logBytes()
    expect(log).toBeGreaterThan(0)
    await commit(store, unit({ operation: 'erase', rev: 1, erase: true }))
    expect(logBytes()).toBeLessThan(log)
  })
})
