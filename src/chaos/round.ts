import { systemClock } from '../runtime/clock.ts'
import { checkPlan, type Pace, torment } from './faults/nemesis.ts'
import type { Recorder } from './history/recorder.ts'
import { attack } from './hostile/attackers.ts'
import { openIdle } from './idle/idle-streams.ts'
import { startLedger } from './ledger.ts'
import { Load } from './load/load.ts'
import type { LoadShape } from './load/load-shape.ts'
import { World } from './load/world.ts'
import type { Deployment } from './nodes/deployment.ts'
import { pause } from './pause.ts'
import { SeededRandom } from './seeded-random.ts'

/** What a round must have seen before it is enough. */
export interface RoundGoal {
  /** Faults that have to be injected, by kind. One that there is not is refused. */
  readonly faults?: Readonly<Record<string, number>>
  /** Cancels that took something, and streams that were cut, of this round. */
  readonly cancels?: number
  readonly cuts?: number
  /** Threads that were deleted, and times that threads were pruned. Only nodes of the program's own are asked to prune. */
  readonly deletes?: number
  readonly prunes?: number
  /** Times that somebody asked for what is another's. Never more than none where there is one principal. */
  readonly probes?: number
  readonly acknowledged?: number
  /** Hostile requests, of a principal of their own. Only to nodes of the program's own. */
  readonly hostile?: number
  /** Idle streams that are open at once. Only of nodes of the program's own. */
  readonly idle?: number
  /** And no sooner than this. */
  readonly seconds?: number
}

export interface RoundOptions {
  readonly deployment: Deployment
  readonly recorder: Recorder
  readonly seed: number
  readonly enough: RoundGoal
  /** Before the names of threads, so that rounds on one store do not meet. */
  readonly prefix: string
  readonly shape: LoadShape
  readonly pace?: Pace
}

const lookMs = 200
// A client is given its turn again after as long; nothing is waited for longer where nothing goes wrong.
const stallMs = 45_000

/** Loads a deployment, torments it, lets it come to rest, and writes everything down. */
export async function runRound(options: RoundOptions): Promise<void> {
  const { deployment, recorder, seed } = options
  const { leaseMs, nodes } = deployment
  const principals = Object.keys(deployment.tokens)
  checkPlan(options.enough.faults ?? {}, deployment.faults)
  if ((options.enough.prunes ?? 0) > 0 && !deployment.mayPrune)
    throw new Error('Nothing is pruned on nodes that somebody else runs: leave `prunes` out')
  const ledger = await startLedger(recorder)
  const names = nodes.map(({ name }) => name)
  recorder.write({ kind: 'round', seed, leaseMs, nodes: names, principals, at: systemClock.now() })
  const world = worldOf(options, principals, ledger.url)
  try {
    await deployment.start()
    const load = new Load(world, new SeededRandom(seed))
    await Promise.race([load.failed, tormentAndRest(options, world, load)])
  } finally {
    world.isOver = true
    await ledger.close()
  }
}

function worldOf({ deployment, recorder, prefix, shape }: RoundOptions, principals: string[], effect: string): World {
  const { leaseMs, nodes, tokens } = deployment
  // All use the same ids, and must not meet.
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `${prefix}t${index}`)
  const { first, others } = shape.threads
  const threads = principals.map((principal, index) => [principal, ids(index === 0 ? first : others)] as const)
  const [eldest = ''] = principals
  const pruned = principals.length > 1 && deployment.mayPrune ? principals.at(-1) : undefined
  return new World({
    recorder,
    nodes,
    tokens,
    threads: Object.fromEntries(threads),
    // One principal deletes and another prunes, so that whatever is gone is gone for one reason.
    fleeting: { [eldest]: [`${prefix}fleeting`] },
    ...(pruned !== undefined && { pruned }),
    shape,
    effect,
    leaseMs,
  })
}

async function tormentAndRest(options: RoundOptions, world: World, load: Load): Promise<void> {
  const { deployment, recorder, enough, pace } = options
  const missing = missingOf(recorder, enough)
  const startedAt = performance.now()
  const random = new SeededRandom(options.seed + 1)
  // What is still wanted when the time is over comes soonest if nothing is in its way.
  const goesOn = () => performance.now() - startedAt < (enough.seconds ?? 0) * 1000
  const isOn = () => world.isRough
  const plan = enough.faults ?? {}
  await Promise.race([
    Promise.all([
      torment({ deployment, recorder, random, plan, goesOn, isOn, ...(pace && { pace }) }),
      attack(world, deployment, new SeededRandom(options.seed + 2), enough.hostile ?? 0),
      openIdle(world, deployment, enough.idle ?? 0),
    ]),
    stalled(recorder, world),
  ])
  while (missing().length > 0 && !(await isStalled(recorder, world))) await pause(lookMs)
  for (const what of missing()) recorder.write({ kind: 'missing', what })
  world.isRough = false
  await deployment.heal()
  recorder.write({ kind: 'calm', at: systemClock.now() })
  await load.rest(deployment)
}

/** Tells what of a goal a round has yet to see, from here on. */
function missingOf({ tally }: Recorder, goal: RoundGoal): () => string[] {
  const before = { ...tally, faults: { ...tally.faults } }
  const startedAt = performance.now()
  const counted = ['cancels', 'cuts', 'deletes', 'prunes', 'probes', 'hostile', 'idle'] as const
  return () => {
    const left: [what: string, count: number][] = [
      ...counted.map((what): [string, number] => [what, (goal[what] ?? 0) - (tally[what] - before[what])]),
      ['acknowledged', (goal.acknowledged ?? 1) - (tally.acknowledged - before.acknowledged)],
      ['seconds', Math.ceil((goal.seconds ?? 0) - (performance.now() - startedAt) / 1000)],
    ]
    for (const [kind, count] of Object.entries(goal.faults ?? {})) {
      left.push([kind, count - ((tally.faults[kind] ?? 0) - (before.faults[kind] ?? 0))])
    }
    return left.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`)
  }
}

/** Resolves when nothing came about for anybody for long. Whoever waits for more would wait for ever. */
async function stalled(recorder: Recorder, world: World): Promise<void> {
  while (world.isRough && !(await isStalled(recorder, world)));
}

async function isStalled({ tally }: Recorder, world: World): Promise<boolean> {
  const progress = () => tally.acknowledged + tally.cuts + tally.hostile
  const before = progress()
  for (let waitedMs = 0; waitedMs < stallMs; waitedMs += lookMs) {
    await pause(lookMs)
    if (progress() !== before || !world.isRough) return false
  }
  return true
}
