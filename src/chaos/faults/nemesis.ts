import type { Recorder } from '../history/recorder.ts'
import type { Deployment, Fault } from '../nodes/deployment.ts'
import { pause } from '../pause.ts'
import { SeededRandom } from '../seeded-random.ts'

/** How long a deployment is left alone between two faults of a kind: until some more was acknowledged, but not for long. */
export interface Pace {
  readonly acknowledgedMax: number
  readonly restMsMax: number
}

export interface NemesisOptions {
  readonly deployment: Deployment
  readonly recorder: Recorder
  readonly random: SeededRandom
  /** Faults that have to be injected, by kind, before anything else. */
  readonly plan: Readonly<Record<string, number>>
  /** A node that has answered 60 times has begun, ended and taken over tasks: that is waited for unless given. */
  readonly pace?: Pace
  /** Whether to go on with others when the plan is done. */
  readonly goesOn: () => boolean
  /** Whether to go on at all. */
  readonly isOn: () => boolean
}

const acknowledgedMax = 60

/**
 * Injects faults: what is planned, in an order that the seed decides, and then whatever comes.
 *
 * N1 What is planned, by kinds that `checkPlan` lets pass, was injected when this resolves, unless it was told to stop.
 */
export async function torment(options: NemesisOptions): Promise<void> {
  const { deployment, random } = options
  const series = (['node', 'store'] as const).map((to) => {
    // Each series has numbers of its own: how long the other takes must not change what it does.
    return injectSeries(
      options,
      deployment.faults.filter((fault) => fault.to === to),
      new SeededRandom(random.below(2 ** 31)),
    )
  })
  await Promise.all(series)
}

/** Throws for a fault that there is not: a plan that is not carried out would show nothing. */
export function checkPlan(plan: NemesisOptions['plan'], faults: readonly Fault[]): void {
  const known = faults.map(({ kind }) => kind)
  const unknown = Object.keys(plan).filter((kind) => !known.includes(kind))
  if (unknown.length === 0) return
  const help = known.length === 0 ? 'nothing is done to nodes that somebody else runs' : `use ${known.join(', ')}`
  throw new Error(`There is no fault ${unknown.join(', ')} here: ${help}`)
}

async function injectSeries(options: NemesisOptions, faults: readonly Fault[], random: SeededRandom): Promise<void> {
  const { plan, goesOn, isOn, recorder } = options
  if (faults.length === 0) return
  const weights = Object.fromEntries(faults.map(({ kind, weight }) => [kind, weight]))
  const planned = shuffled(
    faults.flatMap(({ kind }) => Array.from({ length: plan[kind] ?? 0 }, () => kind)),
    random,
  )
  while (isOn() && (planned.length > 0 || goesOn())) {
    await rest(options, random)
    if (!isOn()) return
    const wanted = planned.shift()
    const kind = wanted ?? random.weighted(weights)
    const countBefore = recorder.tally.faults[kind]
    await faults.find((fault) => fault.kind === kind)?.inject(random)
    // There was nobody to do it to. It comes again when the others had their turn.
    if (wanted !== undefined && recorder.tally.faults[kind] === countBefore) planned.push(wanted)
  }
}

/** Until some more was acknowledged, but not for long: also what is hardly under way has to survive. */
async function rest({ deployment, recorder, pace }: NemesisOptions, random: SeededRandom): Promise<void> {
  const most = pace ?? { acknowledgedMax, restMsMax: deployment.restMsMax }
  const enough = recorder.tally.acknowledged + random.below(most.acknowledgedMax)
  await Promise.race([recorder.until(() => recorder.tally.acknowledged >= enough), pause(most.restMsMax)])
}

function shuffled(kinds: readonly string[], random: SeededRandom): string[] {
  const left = [...kinds]
  const order: string[] = []
  while (left.length > 0) order.push(...left.splice(random.below(left.length), 1))
  return order
}
