import type { Pace } from './faults/nemesis.ts'
import { Recorder } from './history/recorder.ts'
import { type LineShape, type LoadShape, mixedLoad } from './load/load-shape.ts'
import type { Deployment } from './nodes/deployment.ts'
import { foreignDeployment } from './nodes/foreign-deployment.ts'
import { ownDeployment } from './nodes/own-deployment.ts'
import { type Database, givenDatabase, ownDatabase } from './postgres/database.ts'
import { type RoundGoal, runRound } from './round.ts'
import { SeededRandom } from './seeded-random.ts'

/** Where rounds take place, one after the other, each on a store of its own. */
export interface TrackOptions {
  readonly seed: number
  /** `sqlite:`, `postgres:` or `postgres://…`. */
  readonly store: string
  readonly nodes: number
  /** Nodes of somebody else, instead. */
  readonly foreign?: { readonly urls: readonly string[]; readonly tokens: Readonly<Record<string, string>> }
  readonly leaseMs: number
  /** What each round must have seen. */
  readonly enough: RoundGoal
  /** Whether another round follows. */
  readonly goesOn: (roundsDone: number) => boolean
  readonly history: string
  readonly shape?: LoadShape
  readonly lines?: LineShape
  readonly pace?: Pace
  /** Modules that own nodes load first, as `node --import` does. */
  readonly preload?: readonly string[]
}

/** Plays the rounds, and writes their history. */
export async function runTrack(options: TrackOptions): Promise<void> {
  const random = new SeededRandom(options.seed)
  const recorder = new Recorder(options.history)
  const database = options.foreign ? undefined : await databaseOf(options.store)
  try {
    for (let round = 1; ; round += 1) {
      await oneRound(options, { recorder, database, seed: random.below(2 ** 31), round })
      if (!options.goesOn(round)) break
    }
  } finally {
    await recorder.close()
    await database?.close()
  }
}

interface OneRound {
  readonly recorder: Recorder
  readonly database: Database | undefined
  readonly seed: number
  readonly round: number
}

async function oneRound(options: TrackOptions, parts: OneRound): Promise<void> {
  const { recorder, seed, round } = parts
  const { enough, shape = mixedLoad, pace } = options
  const deployment = await deploymentOf(options, parts, new SeededRandom(seed))
  // On a store that is not new nothing of an earlier round, or of anybody else, may be met.
  const prefix = options.foreign ? `chaos-${seed}-${round}-` : ''
  try {
    await runRound({ deployment, recorder, seed, enough, prefix, shape, ...(pace && { pace }) })
  } finally {
    await deployment.close()
  }
}

function deploymentOf(options: TrackOptions, parts: OneRound, random: SeededRandom): Promise<Deployment> {
  const { foreign, leaseMs, nodes, preload = [], lines } = options
  const { recorder, database } = parts
  if (foreign) return foreignDeployment({ ...foreign, leaseMs, random })
  const own = { recorder, random, leaseMs, preload, nodeCount: nodes }
  return ownDeployment({ ...own, ...(database && { database }), ...(lines && { lines }) })
}

async function databaseOf(store: string): Promise<Database | undefined> {
  if (store === 'sqlite:') return undefined
  if (store === 'postgres:') return ownDatabase()
  if (/^postgres(ql)?:\/\//.test(store)) return givenDatabase(store)
  throw new Error(`${store} is no store for this: use sqlite:, postgres: or postgres://…`)
}
