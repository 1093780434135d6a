import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ThreadKey } from '../../../src/core/id.ts'
import { backUp } from '../../../src/stores/sqlite/index.ts'
import { sqliteStoreWith } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import { commit, logOf } from '../../../src/testing/store-suite/builders.ts'
import { MarkedWork } from './marked-work.ts'
import { TurnsRule } from './turns-rule.ts'

let folder: string
let path: string
let store: Store
let now: number
let rule: TurnsRule

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
  now = 1_800_000_000_000
  rule = new TurnsRule()
  store = sqliteStoreWith({ path, clock: { now: () => now } }, () => rule)
  await store.open()
})

afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** In which files the mark of a thread is, and how often. */
function traces(work: MarkedWork, thread: ThreadKey): Record<string, number> {
  const mark = Buffer.from(work.mark(thread))
  const counts = readdirSync(folder).map((name): [string, number] => {
    const bytes = readFileSync(join(folder, name))
    let count = 0
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) count += 1
    return [name, count]
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

async function busy(work: MarkedWork, rounds: number, threads = work.threads): Promise<void> {
  for (let round = 0; round < rounds; round++) await commit(store, ...work.units(round % 4 === 0 ? 2 : 20, threads))
}

/** What SQLite finds wrong with the file, after the store is closed. */
async function damage(): Promise<unknown> {
  await store.close()
  const database = new DatabaseSync(path)
  const found = database.prepare('PRAGMA integrity_check').all()
  database.close()
  return found.map((row) => row['integrity_check'])
}

describe('the files of a SQLite store', () => {
  it.each([1, 2])('hold no byte of an erased thread, whatever moved its rows before (seed %i)', async (seed) => {
    const work = new MarkedWork(12, seed)
    await busy(work, 100)
    const left: Record<string, unknown> = {}
    for (const [n, thread] of work.threads.slice(0, 10).entries()) {
      expect(traces(work, thread)).not.toEqual({})
      await commit(store, work.erasing(thread))
      left[`${thread} at once`] = traces(work, thread)
      // What the others do next rewrites pages on which it was.
      await busy(work, 8, work.threads.slice(n + 1))
      left[`${thread} later`] = traces(work, thread)
    }
    for (const thread of work.threads.slice(0, 10)) left[`${thread} in the end`] = traces(work, thread)
    expect(new Set(rule.committers)).toEqual(new Set(['quick', 'writer']))
    expect(Object.entries(left).filter(([, found]) => Object.keys(found as object).length > 0)).toEqual([])
    expect(await damage()).toEqual(['ok'])
  })

  it('hold no byte of what the batch of an erase wrote before it', async () => {
    const work = new MarkedWork(1, 5)
    const [thread] = work.threads
    if (thread) await commit(store, ...work.units(200), work.erasing(thread))
    expect(thread && traces(work, thread)).toEqual({})
  })

  it('hold all of the other threads after an erase', async () => {
    const work = new MarkedWork(4, 7)
    await busy(work, 40)
    const [erased, ...others] = work.threads
    const before = await Promise.all(others.map((thread) => logOf(store, thread)))
    if (erased) await commit(store, work.erasing(erased))
    expect(await Promise.all(others.map((thread) => logOf(store, thread)))).toEqual(before)
    await busy(work, 5, others)
    expect(await damage()).toEqual(['ok'])
  })
})

describe('another program that reads the file of a SQLite store', () => {
  /** Keeps the write-ahead log from being emptied. */
  function readingProgram(): { stop(): void } {
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM chunks').get()
    return { stop: () => reader.close() }
  }

  async function erasedBesideReader(work: MarkedWork): Promise<{ erased: ThreadKey; reader: { stop(): void } }> {
    await busy(work, 20)
    const [erased, other] = work.threads
    if (!erased || !other) throw new Error('There are two threads at least')
    const reader = readingProgram()
    await commit(store, work.erasing(erased))
    expect(traces(work, erased)).not.toEqual({})
    return { erased, reader }
  }

  it('puts off, and does not fail, what removes the traces of an erase', async () => {
    const work = new MarkedWork(2, 1)
    const { erased, reader } = await erasedBesideReader(work)
    reader.stop()
    now += 10_000
    await store.commit([])
    expect(traces(work, erased)).toEqual({})
  })

  it('does not hold up the commits that follow', async () => {
    const work = new MarkedWork(2, 1)
    const { reader } = await erasedBesideReader(work)
    // If each of them waited for the reader a quarter of a second, this would take longer than a test may.
    for (let round = 0; round < 100; round++) await commit(store, ...work.units(1, work.threads.slice(1)))
    reader.stop()
  })

  it('does not keep the traces for a copy', async () => {
    const work = new MarkedWork(12, 1)
    await busy(work, 100)
    const reader = readingProgram()
    const erased = work.threads.slice(0, 10)
    for (const thread of erased) await commit(store, work.erasing(thread))
    await backUp({ path, target: join(folder, 'copy.db') })
    for (const thread of erased) expect(traces(work, thread)).not.toHaveProperty(['copy.db'])
    reader.stop()
  })

  it('has the traces removed when the store is opened again', async () => {
    const work = new MarkedWork(2, 1)
    const { erased, reader } = await erasedBesideReader(work)
    await store.close()
    reader.stop()
    await store.open()
    expect(traces(work, erased)).toEqual({})
    expect(await damage()).toEqual(['ok'])
  })
})
