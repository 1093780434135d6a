import { checkAcknowledged } from './check-acknowledged.ts'
import { checkLogs } from './check-log.ts'
import { checkOutputs } from './check-output.ts'
import { checkQuestions } from './check-questions.ts'
import { checkSteps } from './check-steps.ts'
import { type Case, entriesOf } from './history.ts'
import { type Entry, isAcknowledged } from './journal.ts'
import { Lives } from './lives.ts'

export interface CyclesReport {
  readonly seed: number
  readonly cycles: number
  readonly durationMs: number
  readonly counts: Counts
  readonly violations: readonly string[]
}

// A life of some hundred operations sees starts, ends, recoveries and all kinds of requests.
const acknowledgedMax = 150
// Most processes die under load, some while they open, and a few are asked to close first.
const moments = { opening: 1, opened: 1, loaded: 8 } as const
const deaths = { kill: 17, close: 2, 'kill closing': 1 } as const

/** Kills a process under load again and again, at moments that the seed decides, and tells what that broke. */
export async function killCycles(
  cycles: number,
  seed: number,
  onCycle: (cycle: number) => void = () => {},
): Promise<CyclesReport> {
  const startedAt = performance.now()
  const lives = await Lives.begin(seed)
  try {
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await liveOnce(lives)
      onCycle(cycle)
    }
    const found = await lives.finish()
    const durationMs = performance.now() - startedAt
    return { seed, cycles, durationMs, counts: countsOf(found), violations: violationsOf(found) }
  } finally {
    await lives.end()
  }
}

async function liveOnce(lives: Lives): Promise<void> {
  const moment = lives.random.weighted(moments)
  const enough = 1 + lives.random.below(acknowledgedMax)
  const death = moment === 'loaded' ? lives.random.weighted(deaths) : 'kill'
  await lives.load((entry, count) => (moment === 'loaded' ? count >= enough : entry.kind === moment), death)
}

/** All that is wrong with what came of a load. */
export function violationsOf(found: Case): string[] {
  const checks = [checkLogs, checkAcknowledged, checkSteps, checkQuestions, checkOutputs]
  return checks.flatMap((check) => [...check(found)])
}

/** How much a case puts to the test. */
export function countsOf(found: Case) {
  const tasks = [...found.tasks.values()]
  const accepted = entriesOf(found, 'accepted')
  const count = (kind: Entry['kind']) => entriesOf(found, kind).length
  const failed = (code: string) => tasks.filter((task) => task.error?.code === code).length
  return {
    acknowledged: found.entries.filter(isAcknowledged).length,
    accepted: accepted.length,
    steered: accepted.filter((entry) => entry.steered !== undefined).length,
    sent: count('sent'),
    settled: count('settled'),
    cancelled: entriesOf(found, 'cancelled').filter((entry) => entry.tasks.length > 0).length,
    collected: entriesOf(found, 'collected').filter((entry) => entry.tasks.length > 0).length,
    answered: count('answered'),
    seen: count('saw'),
    refused: count('refused'),
    effects: found.effects.length,
    tasks: tasks.length,
    events: [...found.threads.values()].reduce((sum, thread) => sum + thread.head, 0),
    resumed: tasks.filter((task) => task.attempt > 1).length,
    poisoned: failed('poisoned'),
    orphaned: failed('orphaned'),
  }
}

export type Counts = ReturnType<typeof countsOf>
