import { transports } from '../../server/harness/client.ts'
import { entriesOf } from '../history.ts'
import { type Entry, isAcknowledged } from '../journal.ts'
import { SeededRandom } from '../seeded-random.ts'
import { type ServedCase, violationsOf } from './check-served.ts'
import { followTask, ThreadReader } from './follow.ts'
import { LoadClient } from './load-client.ts'
import { liveTasks, readServedHistory } from './read-history.ts'
import { ServedWorld, type WorldCounts } from './served-world.ts'
import { StillThere } from './still-there.ts'

export interface ServedReport {
  readonly seed: number
  readonly cycles: number
  readonly durationMs: number
  readonly counts: ServedCounts
  readonly violations: readonly string[]
}

// A store of its own for so many, so that no log and no memory of it grows without end.
const cyclesPerStore = 20
const acknowledgedMax = 140
// The last process is loaded until so many have been tried per cycle, however early the others died.
const cancelsPerCycle = 15
const resumeCutsPerCycle = 10
// Longer than a process takes to open, mostly.
const openingMsMax = 1000
const clientsPerTransport = 4

/** Kills a server under load again and again, at moments that the seed decides, and tells what that broke. */
export async function servedCycles(
  cycles: number,
  seed: number,
  onCycle: (cycle: number) => void = () => {},
): Promise<ServedReport> {
  const startedAt = performance.now()
  const random = new SeededRandom(seed)
  const violations: string[] = []
  const counts: ServedCounts[] = []
  for (let done = 0; done < cycles; done += cyclesPerStore) {
    const count = Math.min(cyclesPerStore, cycles - done)
    const { found, world } = await oneStore(count, random.below(2 ** 31), (cycle) => onCycle(done + cycle))
    violations.push(...violationsOf(found))
    counts.push(countsOf(found, world))
  }
  return { seed, cycles, durationMs: performance.now() - startedAt, counts: sumOf(counts), violations }
}

/** So many on one store, and all that is known at the end. */
export async function oneStore(cycles: number, seed: number, onCycle: (cycle: number) => void) {
  const world = await ServedWorld.begin(seed)
  try {
    const load = new ServedLoad(world)
    const done = killAgain(world, cycles, onCycle).then(() => load.finish())
    // A client that comes to a wrong end, or a task that comes to none, would otherwise be waited for without end.
    await Promise.race([load.failed, world.untilStalled(), done])
    const history = await readServedHistory(world.server, world.threads)
    const seen = new Map(world.threads.map((thread) => [thread, world.seenOf(thread)]))
    const { entries, diedAt, ledger } = world
    const found: ServedCase = { ...history, entries, diedAt, effects: [], posted: ledger.effects, seen }
    return { found, world: world.counts }
  } finally {
    await world.end()
  }
}

async function killAgain(world: ServedWorld, cycles: number, onCycle: (cycle: number) => void): Promise<void> {
  const { random } = world
  const known = new StillThere(world)
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const moment = random.weighted({ opening: 1, loaded: 9 })
    if (moment === 'opening') await world.startAndKill(random.below(openingMsMax))
    else {
      await world.start()
      const enough = world.acknowledgedCount + 1 + random.below(acknowledgedMax)
      await Promise.all([known.check(), world.untilAcknowledged(enough)])
      await world.kill()
    }
    onCycle(cycle)
  }
  await world.start()
  await known.check()
  while (!isEnough(world, cycles)) await world.untilAcknowledged(world.acknowledgedCount + 1)
}

function isEnough({ entries, counts }: ServedWorld, cycles: number): boolean {
  return cancelsIn(entries) >= cancelsPerCycle * cycles && counts.resumeCuts >= resumeCutsPerCycle * cycles
}

/** Cancels that took something and were acknowledged. */
function cancelsIn(entries: readonly Entry[]): number {
  return entries.filter((entry) => entry.kind === 'cancelled' && entry.tasks.length > 0).length
}

/** All clients of a server. */
class ServedLoad {
  /** Never resolves; rejects if a client comes to a wrong end. */
  readonly failed: Promise<never>
  readonly #world: ServedWorld
  readonly #readers: readonly ThreadReader[]
  readonly #clientsDone: Promise<unknown>
  readonly #readersDone: Promise<unknown>

  constructor(world: ServedWorld) {
    this.#world = world
    const fresh = () => new SeededRandom(world.random.below(2 ** 31))
    const clients = transports.flatMap((transport) =>
      Array.from({ length: clientsPerTransport }, (_, index) => {
        return new LoadClient(world, fresh(), `${transport}${index}`, transport, index % 2 === 0)
      }),
    )
    this.#readers = world.threads.flatMap((thread) =>
      transports.map((transport) => new ThreadReader(world, fresh(), thread, transport)),
    )
    this.#clientsDone = Promise.all(clients.map((client) => client.run()))
    this.#readersDone = Promise.all(this.#readers.map((reader) => reader.run()))
    this.failed = new Promise((_, reject) => {
      this.#clientsDone.catch(reject)
      this.#readersDone.catch(reject)
    })
    this.failed.catch(() => {})
  }

  /** Lets all tasks end and all clients see that, on a server that is not killed any more. */
  async finish(): Promise<void> {
    const { server, threads } = this.#world
    this.#world.isLoading = false
    await this.#clientsDone
    for (let live = await liveTasks(server); live.length > 0; live = await liveTasks(server)) {
      await Promise.all(live.map(({ id, thread }) => followTask(this.#world, { thread, task: id, transport: 'sse' })))
    }
    for (const reader of this.#readers) reader.stop()
    await this.#readersDone
    const heads = await Promise.all(
      threads.map(async (thread) => (await server.request<{ head: number }>('GET', `/v1/threads/${thread}`)).body.head),
    )
    const perThread = transports.length
    await Promise.all(this.#readers.map((reader, index) => reader.finish(heads[Math.floor(index / perThread)] ?? 0)))
  }
}

/** How much a case puts to the test. */
function countsOf(found: ServedCase, world: WorldCounts) {
  const tasks = [...found.tasks.values()]
  const accepted = entriesOf(found, 'accepted')
  return {
    acknowledged: found.entries.filter(isAcknowledged).length,
    accepted: accepted.length,
    steered: accepted.filter(({ steered }) => steered !== undefined).length,
    interrupted: accepted.filter(({ interrupted = [] }) => interrupted.length > 0).length,
    cancelled: cancelsIn(found.entries),
    sent: entriesOf(found, 'sent').length,
    settled: entriesOf(found, 'settled').length,
    collected: entriesOf(found, 'collected').filter((entry) => entry.tasks.length > 0).length,
    ...world,
    effects: found.posted.length,
    tasks: tasks.length,
    events: [...found.threads.values()].reduce((sum, thread) => sum + thread.head, 0),
    resumed: tasks.filter(({ attempt }) => attempt > 1).length,
    poisoned: tasks.filter(({ error }) => error?.code === 'poisoned').length,
  }
}

export type ServedCounts = ReturnType<typeof countsOf>

function sumOf(all: readonly ServedCounts[]): ServedCounts {
  const [first, ...others] = all
  if (!first) throw new Error('There is no cycle to count')
  const sum = { ...first }
  for (const counts of others) {
    for (const name of Object.keys(sum) as (keyof ServedCounts)[]) sum[name] += counts[name]
  }
  return sum
}
