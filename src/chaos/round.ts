import { systemClock } from '../runtime/clock.ts'
import { checkPlan, torment } from './faults/nemesis.ts'
import type { Recorder } from './history/recorder.ts'
import { startLedger } from './ledger.ts'
import { FinalReads } from './load/final-reads.ts'
import { ThreadReader } from './load/follow.ts'
import { LoadClient } from './load/load-client.ts'
import { serveOnce } from './load/serve-once.ts'
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
  readonly acknowledged?: number
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
  readonly clientCount: number
}

const threadsPerPrincipal = { first: 3, others: 2 }
// What G19 allows beside the lease, and a little more, so that what is late is told from what never comes.
const overMs = 35_000
const lookMs = 200
// A client is given its turn again after as long; nothing is waited for longer where nothing goes wrong.
const stallMs = 45_000

/** Loads a deployment, torments it, lets it come to rest, and writes everything down. */
export async function runRound(options: RoundOptions): Promise<void> {
  const { deployment, recorder, seed } = options
  const { leaseMs, nodes, tokens } = deployment
  checkPlan(options.enough.faults ?? {}, deployment.faults)
  const ledger = await startLedger(recorder)
  const principals = Object.keys(tokens)
  const names = nodes.map(({ name }) => name)
  recorder.write({ kind: 'round', seed, leaseMs, nodes: names, principals, at: systemClock.now() })
  const world = new World({ recorder, nodes, tokens, threads: threadsOf(options), effect: ledger.url, leaseMs })
  try {
    await deployment.start()
    const load = new Load(world, new SeededRandom(seed), options.clientCount)
    await Promise.race([load.failed, tormentAndRest(options, world, load)])
  } finally {
    world.isOver = true
    await ledger.close()
  }
}

async function tormentAndRest(options: RoundOptions, world: World, load: Load): Promise<void> {
  const { deployment, recorder, enough, seed } = options
  const missing = missingOf(recorder, enough)
  const startedAt = performance.now()
  // What is still wanted when the time is over comes soonest if nothing is in its way.
  const goesOn = () => performance.now() - startedAt < (enough.seconds ?? 0) * 1000
  await Promise.race([
    torment({
      deployment,
      recorder,
      random: new SeededRandom(seed + 1),
      plan: enough.faults ?? {},
      goesOn,
      isOn: () => world.isRough,
    }),
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
  return () => {
    const left: [what: string, count: number][] = [
      ['cancels', (goal.cancels ?? 0) - (tally.cancels - before.cancels)],
      ['cuts', (goal.cuts ?? 0) - (tally.cuts - before.cuts)],
      ['acknowledged', (goal.acknowledged ?? 1) - (tally.acknowledged - before.acknowledged)],
      ['seconds', Math.ceil((goal.seconds ?? 0) - (performance.now() - startedAt) / 1000)],
    ]
    for (const [kind, count] of Object.entries(goal.faults ?? {})) {
      left.push([kind, count - ((tally.faults[kind] ?? 0) - (before.faults[kind] ?? 0))])
    }
    return left.filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`)
  }
}

/** Resolves when nothing was acknowledged to anybody for long. Whoever waits for more would wait for ever. */
async function stalled(recorder: Recorder, world: World): Promise<void> {
  while (world.isRough && !(await isStalled(recorder, world)));
}

async function isStalled({ tally }: Recorder, world: World): Promise<boolean> {
  const before = tally.acknowledged
  for (let waitedMs = 0; waitedMs < stallMs; waitedMs += lookMs) {
    await pause(lookMs)
    if (tally.acknowledged !== before || !world.isRough) return false
  }
  return true
}

function threadsOf({ deployment, prefix }: RoundOptions): Record<string, string[]> {
  const { first, others } = threadsPerPrincipal
  const principals = Object.keys(deployment.tokens)
  // All use the same ids, and must not meet.
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `${prefix}t${index}`)
  return Object.fromEntries(principals.map((principal, index) => [principal, ids(index === 0 ? first : others)]))
}

/** All clients of a round. */
class Load {
  /** Never resolves; rejects if a client comes to a wrong end. */
  readonly failed: Promise<never>
  readonly #world: World
  readonly #readers: { readonly principal: string; readonly thread: string; readonly reader: ThreadReader }[] = []
  readonly #clientsDone: Promise<unknown>
  readonly #readersDone: Promise<unknown>

  constructor(world: World, random: SeededRandom, clientCount: number) {
    this.#world = world
    const fresh = () => new SeededRandom(random.below(2 ** 31))
    const transports = ['sse', 'ws'] as const
    const clients = Array.from({ length: clientCount }, (_, index) => {
      const principal = world.principals[index % 3 === 2 ? world.principals.length - 1 : 0] ?? ''
      const transport = transports[index % 2] ?? 'sse'
      return new LoadClient(world, fresh(), `client${index}`, principal, transport)
    })
    for (const [principal, threads] of Object.entries(world.threads)) {
      for (const thread of threads) {
        for (const transport of transports) {
          this.#readers.push({
            principal,
            thread,
            reader: new ThreadReader(world, { principal, thread, transport }, fresh()),
          })
        }
      }
    }
    this.#clientsDone = Promise.all(clients.map((client) => client.run()))
    this.#readersDone = Promise.all(this.#readers.map(({ reader }) => reader.run()))
    this.failed = new Promise((_, reject) => {
      // Who is still at it when the round is over, because something did not end, is left to itself.
      const tell = (error: unknown) => {
        if (!world.isOver) reject(error)
      }
      this.#clientsDone.catch(tell)
      this.#readersDone.catch(tell)
    })
    this.failed.catch(() => {})
  }

  /** Lets all tasks end and all clients see that, and writes down what is there then. */
  async rest({ nodes, leaseMs }: Deployment): Promise<void> {
    const world = this.#world
    world.isLoading = false
    const [first] = nodes
    if (!first) throw new Error('There is no node to ask')
    const reads = new FinalReads(world, first)
    const deadline = performance.now() + leaseMs + overMs
    const done = Promise.all([...nodes.map((node) => serveOnce(world, node)), this.#clientsDone])
    await doneBy(deadline, done)
    let live = await reads.live()
    while (live.length > 0 && performance.now() < deadline) {
      await pause(lookMs)
      live = await reads.live()
    }
    world.recorder.write({ kind: 'over', at: systemClock.now(), live })
    for (const { reader } of this.#readers) reader.stop()
    await this.#readersDone
    if (live.length === 0) await doneBy(performance.now() + overMs, this.#readToHeads(reads))
    world.isOver = true
    await reads.writeAll()
    for (const node of nodes.slice(1)) await new FinalReads(world, node).writeDigests()
  }

  async #readToHeads(reads: FinalReads): Promise<void> {
    await Promise.all(
      this.#readers.map(async ({ principal, thread, reader }) => reader.finish(await reads.head(principal, thread))),
    )
  }
}

/** Waits for this, but not beyond a time, and leaves no timer behind. What it rejects with is told elsewhere. */
async function doneBy(deadline: number, work: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  while (!isDone && performance.now() < deadline) await pause(lookMs)
}
