import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isHoldfastError } from '../../../src/core/errors.ts'
import { sqliteStore } from '../../../src/stores/sqlite/index.ts'
import { deltas, unit } from '../../../src/testing/store-suite/builders.ts'

// A process of the tests' own: opens the store at a path, commits to a thread of a revision, says so or the code of what went wrong, and then
// holds the store until it is killed, closes it, or just comes to its end. What nobody refers to any more is collected before it says so.

const [path = '', then, rev = '0'] = process.argv.slice(2)
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const store = sqliteStore({ path })
try {
  await store.open()
} catch (error) {
  console.log(isHoldfastError(error) ? `opening: ${error.code}` : String(error))
  process.exit(1)
}
await store.commit([unit({ rev: Number(rev), events: deltas(100) })])
if (then === 'hold') {
  process.stdin.resume()
  setImmediate(() => {
    collect()
    console.log('committed')
  })
} else {
  console.log('committed')
}
if (then === 'close') await store.close()
