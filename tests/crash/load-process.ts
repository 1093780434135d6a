import { SeededRandom } from '../../src/chaos/seeded-random.ts'
import { createRuntime } from '../../src/index.ts'
import { type Asking, pipeJournal as journal } from './journal.ts'
import { Ledger } from './ledger.ts'
import { Load } from './load.ts'
import { loadAgents } from './load-agents.ts'
import { drain, writeSeen } from './witness.ts'

/** What one life of the process is to do, given as its only argument. */
export interface LifeOptions {
  readonly store: string
  readonly ledger: string
  readonly seed: number
  /** Unique among the lives on this store. */
  readonly life: string
  /** Load without end, or finish what is there, close, and exit. */
  readonly does: 'load' | 'drain'
  readonly threads: readonly string[]
  /** Where subscribers of earlier lives stood. */
  readonly seen: Readonly<Record<string, number>>
  readonly askings: readonly Asking[]
}

// Few, so that tasks wait for slots as well; and a queue short enough that what is left over drains in a moment.
const concurrency = 8
const limits = { queuedRunsPerThread: 6 }
const graceMs = 100
// Some tasks get to their end in it, others are handed over.
const drainMs = 20

const options = JSON.parse(process.argv[2] ?? '') as LifeOptions
journal({ kind: 'opening' })
const runtime = createRuntime({
  store: `sqlite:${options.store}`,
  agents: loadAgents({ journal, ledger: new Ledger(options.ledger, options.life) }),
  concurrency,
  limits,
  graceMs,
})
await runtime.opened()
journal({ kind: 'opened' })
const watching = Object.entries(options.seen).map(([thread, after]) => writeSeen({ runtime, journal }, thread, after))
// Nobody awaits the subscribers of a process that is to be killed; what goes wrong in one ends the process.
for (const watcher of watching) void watcher

process.once('SIGTERM', () => {
  journal({ kind: 'closing' })
  void runtime.close({ drainMs }).then(() => {
    journal({ kind: 'closed' })
    process.exit(0)
  })
})

if (options.does === 'load') {
  const { threads, life, askings } = options
  await new Load({ runtime, random: new SeededRandom(options.seed), threads, life, journal }).run(askings)
} else {
  await drain({ runtime, journal })
  await runtime.close()
  await Promise.all(watching)
  journal({ kind: 'drained' })
}
