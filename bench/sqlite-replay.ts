// How fast is the log read again? Run with `node bench/sqlite-replay.ts`.
//
// A thread of 100,000 events of 300 bytes, written in commits of 5, 50 and 500 events, is read through the store in pages
// of 1,000, and for comparison by a bare SELECT of the same rows with a JSON.parse of each event. The store parses
// nothing, because what it hands on is the text; it makes one object per event. It does not measure the first reading of a
// file that is not in memory.

import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import type { Store } from '../src/stores/store.ts'
import { acceptUnit, emitUnit, eventBytes, fileBytes, withPath } from './sqlite-load.ts'

const eventCount = 100_000
const pageLimit = 1_000
const thread = acceptUnit(0).thread
const clock = { now: () => Date.now() }

async function fill(store: Store, eventsPerCommit: number): Promise<void> {
  await store.commit([acceptUnit(0)])
  for (let written = 0; written < eventCount; written += eventsPerCommit) {
    await store.commit([emitUnit(0, eventsPerCommit)])
  }
}

async function replay(store: Store, isFiltered: boolean): Promise<number> {
  const task = await store.task(emitUnit(0, 0).fence?.task ?? never())
  const range = task && { id: task.id, first: task.firstSeq, last: task.seq }
  let count = 0
  for (let after = 0; ; ) {
    const page = await store.events(thread, { after, limit: pageLimit, ...(isFiltered && range && { task: range }) })
    count += page.events.length
    after = page.upTo
    if (after >= page.head) return count
  }
}

function bare(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  let count = 0
  for (const row of database.prepare('SELECT first, body FROM chunks ORDER BY thread, first').iterate()) {
    for (const line of String(row['body']).split('\n')) {
      JSON.parse(line.slice(line.lastIndexOf('\t') + 1))
      count += 1
    }
  }
  database.close()
  return count
}

async function perSecond(read: () => number | Promise<number>): Promise<number> {
  const startedAt = performance.now()
  const count = await read()
  if (count !== eventCount) throw new Error(`${count} events were read`)
  return count / ((performance.now() - startedAt) / 1000)
}

function never(): never {
  throw new Error('an emit unit has a fence')
}

for (const eventsPerCommit of [5, 50, 500]) {
  await withPath(async (path) => {
    const store = sqliteStore({ path, clock })
    await store.open()
    await fill(store, eventsPerCommit)
    for (let round = 1; round <= 3; round++) {
      const [ours, filtered, base] = [
        await perSecond(() => replay(store, false)),
        await perSecond(() => replay(store, true)),
        await perSecond(() => bare(path)),
      ]
      const figures = [ours, filtered, base].map((figure) => Math.round(figure).toLocaleString('en'))
      const ratio = (ours / base).toFixed(2)
      console.log(
        `${eventsPerCommit} per commit: store ${figures[0]}/s, filtered ${figures[1]}/s, bare ${figures[2]}/s: ${ratio}`,
      )
    }
    await store.close()
    console.log(`  ${(fileBytes(path) / eventCount / eventBytes).toFixed(2)} bytes on disk per byte of events`)
  })
}
