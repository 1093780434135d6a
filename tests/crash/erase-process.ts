import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { commit } from '../../src/testing/store-suite/builders.ts'
import { MarkedWork } from '../unit/stores/marked-work.ts'

// A process of the tests' own: fills a store with the marked work of many threads and erases one after the other, saying
// before and after which. It is killed on the way, and waits for that if it was faster.

const [path = '', seed = '0', threadCount = '0'] = process.argv.slice(2)
const store = sqliteStore({ path })
await store.open()
const work = new MarkedWork(Number(threadCount), Number(seed))
for (let round = 0; round < 40; round++) await commit(store, ...work.units(20))
for (const [n, thread] of work.threads.entries()) {
  console.log(`erasing ${n}`)
  await commit(store, work.erasing(thread))
  console.log(`erased ${n}`)
  const others = work.threads.slice(n + 1)
  if (others.length > 0) await commit(store, ...work.units(20, others))
}
process.stdin.resume()
