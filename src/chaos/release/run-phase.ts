import { hash } from 'node:crypto'
import { join } from 'node:path'
import { checkHistory, type Verdict } from '../check/check-case.ts'
import { runLane } from '../lane.ts'
import { goalOf, type LanePlan, type Phase } from './plan.ts'

/** What came of a lane. */
export interface LaneReport {
  readonly store: string
  readonly history: string
  /** Undefined if the lane came to a wrong end, which `error` tells. */
  readonly verdict?: Verdict
  readonly error?: unknown
}

export interface PhaseReport {
  readonly phase: Phase
  readonly seed: number
  readonly lanes: readonly LaneReport[]
  readonly loadMs: number
  readonly checkMs: number
  /** Whether every figure was reached and nothing is broken. */
  readonly holds: boolean
}

export interface PhaseOptions {
  readonly seed: number
  /** Where histories are written. */
  readonly folder: string
  readonly tell: (text: string) => void
}

const commonLeaseMs = 1_000

/** Plays all lanes of a phase, and then checks their histories: a checker at work would slow down whoever is under load. */
export async function runPhase(phase: Phase, options: PhaseOptions): Promise<PhaseReport> {
  const startedAt = performance.now()
  const played = await playAll(phase, options)
  const loadedAt = performance.now()
  const lanes: LaneReport[] = []
  for (const lane of played) lanes.push(lane.error === undefined ? await checked(lane) : lane)
  const verdicts = lanes.flatMap(({ verdict }) => verdict ?? [])
  const isWhole = lanes.every(({ verdict }) => verdict?.holds)
  return {
    phase,
    seed: options.seed,
    lanes,
    loadMs: loadedAt - startedAt,
    checkMs: performance.now() - loadedAt,
    holds: isWhole && phase.figures.every(({ wanted, had }) => had(verdicts) >= wanted),
  }
}

async function playAll(phase: Phase, options: PhaseOptions): Promise<LaneReport[]> {
  const played: LaneReport[] = []
  const waiting = [...phase.lanes.entries()]
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, lane] = next
      played[index] = await play(phase, lane, index, options)
    }
  }
  await Promise.all(Array.from({ length: phase.atOnce }, one))
  return played
}

async function play(phase: Phase, lane: LanePlan, index: number, options: PhaseOptions): Promise<LaneReport> {
  const { store, nodes, rounds, shape, lines, pace, leaseMs = commonLeaseMs } = lane
  const name = `${phase.name}-${index + 1}`
  const history = join(options.folder, `${name}.ndjson`)
  const startedAt = performance.now()
  try {
    await runLane({
      // Each lane has a seed of its own, whichever phases are asked for.
      seed: Number.parseInt(hash('sha1', `${options.seed} ${name}`).slice(0, 7), 16),
      store,
      nodes,
      leaseMs,
      enough: goalOf(lane),
      goesOn(done) {
        options.tell(`${name}: round ${done} of ${rounds}, ${Math.round((performance.now() - startedAt) / 1000)} s\n`)
        return done < rounds
      },
      history,
      shape,
      ...(lines && { lines }),
      ...(pace && { pace }),
    })
    return { store, history }
  } catch (error) {
    return { store, history, error }
  }
}

async function checked(lane: LaneReport): Promise<LaneReport> {
  try {
    return { ...lane, verdict: await checkHistory(lane.history) }
  } catch (error) {
    return { ...lane, error }
  }
}
