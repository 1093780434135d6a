import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { sqliteStoreWith } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/stores/store.ts'
import {
  added,
  commit,
  deltas,
  headOf,
  home,
  logOf,
  numbersOf,
  pending,
  unit,
  upTo,
} from '../../../src/testing/store-suite/builders.ts'
import { ByTurns } from './by-turns.ts'

let folder: string
let path: string
let store: Store
let rule: ByTurns

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  path = join(folder, 'store.db')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function open(made: ByTurns): Promise<void> {
  rule = made
  store = sqliteStoreWith(() => rule, { path })
  await store.open()
}

async function openHere(): Promise<void> {
  await open(new ByTurns(['here']))
  await commit(store, unit({ events: deltas(1) }))
  expect(rule.places).toEqual(['here'])
}

describe('commits on two threads', () => {
  it('are one log, whoever made the one before', async () => {
    await open(new ByTurns())
    for (let n = 0; n < 60; n++) await commit(store, unit({ events: deltas(2) }))
    expect(new Set(rule.places)).toEqual(new Set(['here', 'thread']))
    expect(numbersOf(await logOf(store, home, 7))).toEqual(upTo(120))
    await store.close()
    const again = sqliteStore({ path })
    await again.open()
    expect(await headOf(again)).toBe(120)
    await again.close()
  })

  it('remember the task numbers of each other', async () => {
    await open(new ByTurns())
    for (let n = 0; n < 30; n++) {
      const number = await store.allocate(1)
      await commit(store, unit({ tasks: [added(pending(`bg_${number}`, { ready: false }))], events: deltas(1) }))
    }
    await store.close()
    const again = sqliteStore({ path })
    await again.open()
    expect(await again.allocate(1)).toBe(30)
    await again.close()
  })

  it('that are asked for at the same time stay in their order', async () => {
    await openHere()
    const before = await headOf(store)
    const large = commit(store, unit({ events: deltas(5_000) }))
    const small = commit(store, unit({ events: deltas(1) }))
    await Promise.all([large, small])
    expect(rule.places.slice(-2)).toEqual(['thread', 'thread'])
    expect(await headOf(store)).toBe(before + 5_001)
    await store.close()
  })
})

describe('a commit that is to be made here', () => {
  it('is made on the thread where another program holds the file, and waits there', async () => {
    await openHere()
    const before = await headOf(store)
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const committing = commit(store, unit({ events: deltas(1) }))
    other.exec('COMMIT')
    other.close()
    await committing
    expect(rule.places.at(-1)).toBe('thread')
    expect(await headOf(store)).toBe(before + 1)
    await store.close()
  })

  it('that finds the file damaged ends all writing, also on the thread, and the store can be closed', async () => {
    await openHere()
    // So that the writers read from the file what is to be damaged in it.
    await store.close()
    await open(new ByTurns(['here']))
    const whole = readFileSync(path)
    writeFileSync(path, damaged(whole))
    await expect(commit(store, unit({ events: deltas(1) }))).rejects.toMatchObject({ code: 'store_failed' })
    writeFileSync(path, whole)
    const forThread = unit({ events: deltas(5_000) })
    await expect(commit(store, forThread)).rejects.toMatchObject({ code: 'store_failed' })
    expect(rule.places).toEqual([])
    await store.close()
  })

  it('is left to the thread while traces of what was erased are in the files', async () => {
    await openHere()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM chunks').get()
    await commit(store, unit({ rev: (await store.livePart(home))?.rev ?? 0, erase: true }))
    await commit(store, unit({ events: deltas(1) }))
    expect(rule.places.slice(-2)).toEqual(['thread', 'thread'])
    reader.close()
    await store.close()
  })
})

/** All pages but the first are overwritten. */
function damaged(whole: Buffer): Buffer {
  return Buffer.concat([whole.subarray(0, 4_096), Buffer.alloc(whole.length - 4_096, 0xff)])
}
