import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import type { Store } from '../../../src/stores/store.ts'
import { commit, deltas, headOf, unit } from '../../../src/testing/store-suite/builders.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The threads that are started from here on. */
function startedThreads(): Worker[] {
  const started: Worker[] = []
  const onWorker = (worker: Worker) => void started.push(worker)
  process.on('worker', onWorker)
  onTestFinished(() => void process.off('worker', onWorker))
  return started
}

async function open(name: string): Promise<Store> {
  const store = sqliteStore({ path: join(folder, name) })
  await store.open()
  return store
}

/** As many as are open at the same time, so that the threads of other tests are in use as well. */
async function openMany(count: number): Promise<Store[]> {
  const stores: Store[] = []
  for (let n = 0; n < count; n++) stores.push(await open(`${n}.db`))
  return stores
}

it('a store that is opened after another was closed writes on the thread of that one', async () => {
  await (await open('first.db')).close()
  const started = startedThreads()
  for (const name of ['second.db', 'third.db', 'second.db']) {
    const store = await open(name)
    const before = await headOf(store)
    await commit(store, unit({ events: deltas(2) }))
    expect(await headOf(store)).toBe(before + 2)
    await store.close()
  }
  expect(started).toEqual([])
})

it('stores that are open at the same time have threads of their own, of which a few are kept', async () => {
  const started = startedThreads()
  const stores = await openMany(5)
  for (const store of stores) await commit(store, unit({ events: deltas(1) }))
  for (const store of stores) expect(await headOf(store)).toBe(1)
  await Promise.all(stores.map((store) => store.close()))
  const before = started.length
  const again = await Promise.all(stores.map((_, n) => open(`${n}.db`)))
  await Promise.all(again.map((store) => store.close()))
  expect(started.length - before).toBe(3)
})

it('a file that cannot be opened spoils no thread for others', async () => {
  writeFileSync(join(folder, 'none.db'), 'this is no database, and it is long enough to be seen as none')
  for (let n = 0; n < 3; n++) await expect(open('none.db')).rejects.toMatchObject({ code: 'store_schema' })
  const store = await open('good.db')
  await commit(store, unit({ events: deltas(1) }))
  await store.close()
})

it('whatever is asked of a store whose thread died is refused, and the next store does not get that thread', async () => {
  // So that none is left for the one that is to die.
  const others = await openMany(2)
  const started = startedThreads()
  const store = await open('dying.db')
  await started[0]?.terminate()
  await expect(commit(store, unit({ events: deltas(1) }))).rejects.toMatchObject({ code: 'store_failed' })
  await expect(store.close()).rejects.toMatchObject({ code: 'store_failed' })
  for (const other of others) await other.close()
  const next = await open('dying.db')
  await commit(next, unit({ events: deltas(1) }))
  await next.close()
})

it('a thread that dies while nobody uses it is not given to anybody', async () => {
  const others = await openMany(2)
  const started = startedThreads()
  await (await open('gone.db')).close()
  await started[0]?.terminate()
  const store = await open('next.db')
  await commit(store, unit({ events: deltas(1) }))
  for (const each of [store, ...others]) await each.close()
})

it('a thread that nobody takes is ended after a while', async () => {
  const others = await openMany(2)
  const started = startedThreads()
  await (await open('once.db')).close()
  expect(started).toHaveLength(1)
  await Promise.all(started.map((thread) => once(thread, 'exit')))
  for (const other of others) await other.close()
})
