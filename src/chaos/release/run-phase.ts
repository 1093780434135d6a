import { hash } from 'node:crypto'
import { join } from 'node:path'
import { checkHistory, type Verdict } from '../check/check-case.ts'
import { runTrack } from '../track.ts'
import { goalOf, type Phase, type TrackPlan } from './plan.ts'

/** What came of a track. */
export interface TrackReport {
  readonly store: string
  readonly history: string
  /** Undefined if the track came to a wrong end, which `error` tells. */
  readonly verdict?: Verdict
  readonly error?: unknown
}

export interface PhaseReport {
  readonly phase: Phase
  readonly seed: number
  readonly tracks: readonly TrackReport[]
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

/** Plays all tracks of a phase, and then checks their histories: a checker at work would slow down whoever is under load. */
export async function runPhase(phase: Phase, options: PhaseOptions): Promise<PhaseReport> {
  const startedAt = performance.now()
  const played = await playAll(phase, options)
  const loadedAt = performance.now()
  const tracks: TrackReport[] = []
  for (const track of played) tracks.push(track.error === undefined ? await checked(track) : track)
  const verdicts = tracks.flatMap(({ verdict }) => verdict ?? [])
  const isWhole = tracks.every(({ verdict }) => verdict?.holds)
  return {
    phase,
    seed: options.seed,
    tracks,
    loadMs: loadedAt - startedAt,
    checkMs: performance.now() - loadedAt,
    holds: isWhole && phase.figures.every(({ wanted, had }) => had(verdicts) >= wanted),
  }
}

async function playAll(phase: Phase, options: PhaseOptions): Promise<TrackReport[]> {
  const played: TrackReport[] = []
  const waiting = [...phase.tracks.entries()]
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, track] = next
      played[index] = await play(phase, track, index, options)
    }
  }
  await Promise.all(Array.from({ length: phase.atOnce }, one))
  return played
}

async function play(phase: Phase, track: TrackPlan, index: number, options: PhaseOptions): Promise<TrackReport> {
  const { store, nodes, rounds, shape, lines, pace, leaseMs = commonLeaseMs } = track
  const name = `${phase.name}-${index + 1}`
  const history = join(options.folder, `${name}.ndjson`)
  const startedAt = performance.now()
  try {
    await runTrack({
      // Each track has a seed of its own, whichever phases are asked for.
      seed: Number.parseInt(hash('sha1', `${options.seed} ${name}`).slice(0, 7), 16),
      store,
      nodes,
      leaseMs,
      enough: goalOf(track),
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

async function checked(track: TrackReport): Promise<TrackReport> {
  try {
    return { ...track, verdict: await checkHistory(track.history) }
  } catch (error) {
    return { ...track, error }
  }
}
