import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { principal, type ThreadKey, threadId, threadKey } from '../../../src/core/id.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { ThreadFilter } from '../../../src/stores/sqlite/thread-filter.ts'
import type { Store } from '../../../src/stores/store.ts'
import { accepting, commit, pending, unit, upTo } from '../../../src/testing/store-suite/builders.ts'

const keyOf = (name: string): ThreadKey => threadKey(principal('alice'), threadId(name))

describe('the filter of threads', () => {
  it('may have every thread that was added, whatever it is called', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, unit: 'binary' })), (names) => {
        const filter = new ThreadFilter(0)
        for (const name of names) filter.add(name as ThreadKey)
        filter.isWhole = true
        expect(names.every((name) => filter.mayHave(name as ThreadKey))).toBe(true)
      }),
    )
  })

  it('tells of nearly all others that they are not there, though their names differ by a digit', () => {
    const filter = new ThreadFilter(0)
    for (const n of upTo(500_000)) filter.add(keyOf(`thread-${n}`))
    filter.isWhole = true
    const mistaken = upTo(50_000).filter((n) => filter.mayHave(keyOf(`thread-${500_000 + n}`)))
    expect(mistaken.length).toBeLessThan(150)
  })

  it('tells nothing before all are in it', () => {
    expect(new ThreadFilter(0).mayHave(keyOf('t'))).toBe(true)
  })
})

describe('a SQLite store', () => {
  async function opened(): Promise<{ readonly store: Store; readonly path: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
    const path = join(folder, 'store.db')
    const store = sqliteStore({ path })
    onTestFinished(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    await store.open()
    return { store, path }
  }

  it('looks for no thread that it knows is not there, and for one that a commit was tried for', async () => {
    const { store, path } = await opened()
    const key = keyOf('t')
    // An empty file is read within a turn.
    for (let turn = 0; turn < 2; turn++) await nextTurn()
    const other = new DatabaseSync(path)
    other.prepare('INSERT INTO threads VALUES (1, ?, ?, 1, 0, 0, 0, 0)').run(key, 'alice')
    other.close()
    expect(await store.livePart(key)).toBeUndefined()
    await store.commit([unit({ thread: key, rev: 7 })])
    expect(await store.livePart(key)).toMatchObject({ key, tasks: [] })
  })

  it('finds threads that were there when it was opened, however soon it is asked and however many there are', async () => {
    const { store } = await opened()
    const keys = upTo(1_201).map((n) => keyOf(`t${n}`))
    await commit(store, ...keys.map((key, n) => accepting(pending(`bg_${n}`, { key }), { thread: key })))
    await store.close()
    await store.open()
    const found = async () => (await Promise.all(keys.map((key) => store.livePart(key)))).filter((part) => part).length
    // Each look comes at another moment while the keys are read, and the last after all of them.
    for (let turn = 0; turn < 8; turn++) {
      expect(await found()).toBe(1_201)
      expect(await store.livePart(keyOf('other'))).toBeUndefined()
      await nextTurn()
    }
  })
})
