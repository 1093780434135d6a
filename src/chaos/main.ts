// The program: `npm run chaos -- --minutes 5 --store postgres --nodes 3 --seed 42`.
import { statSync } from 'node:fs'
import { type ChaosOptions, chaos } from './chaos.ts'
import { checkHistory } from './check/check-case.ts'
import { readFlags } from './flags.ts'
import { Misuse } from './misuse.ts'
import { runRelease } from './release/release.ts'
import { reportText, verdictText } from './report.ts'

const help = `Loads real nodes, breaks what can break, and checks what their clients saw. docs/reliability.md has more.

npm run chaos                                    a minute, one node on SQLite
  --minutes N  --seed N  --history FILE          how long; the same choices again; where the history is written
  --store sqlite | postgres | postgres://…       several nodes need a PostgreSQL, its own unless an address is given
  --nodes N                                      how many share it; 3 unless given
npm run chaos -- --url URL --token NAME=TOKEN    nodes that somebody else runs; both may be given more than once
npm run chaos -- --release                       all figures of a release, within an hour
  --phase NAME,…  --scale 0.05                   some of its phases, or a part of their size, to try them
npm run chaos -- --check FILE                    checks a history once more
`

try {
  process.exit((await holds()) ? 0 : 1)
} catch (error) {
  if (!(error instanceof Misuse)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

/** Does what is asked for, and says whether what was checked holds. */
async function holds(): Promise<boolean> {
  const asked = readFlags(process.argv.slice(2))
  if (asked.use === 'check') return checkAgain(asked.history)
  if (asked.use === 'release') return runRelease({ ...asked.options, tell: (text) => process.stdout.write(text) })
  if (asked.use !== 'help') return run(asked.options)
  process.stdout.write(help)
  return true
}

async function run(options: ChaosOptions): Promise<boolean> {
  process.stdout.write(`seed ${options.seed}\n`)
  const report = await chaos({ ...options, onRound: (round) => process.stdout.write(`round ${round} is over\n`) })
  process.stdout.write(reportText(report))
  return report.holds
}

/** Checks a history that was written before. */
async function checkAgain(history: string): Promise<boolean> {
  const found = statSync(history, { throwIfNoEntry: false })
  if (!found || found.isDirectory()) throw new Misuse(`There is no file ${history}`)
  const verdict = await checkHistory(history)
  process.stdout.write(verdictText(verdict, history))
  return verdict.holds
}
