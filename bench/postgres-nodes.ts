// What do several nodes cost each other? Run with `node bench/postgres-nodes.ts`.
//
// The same work is shared out among one, two and three node processes on one server: 96 runs that emit 1,000 events of 300 bytes
// each, and 384 callers that have runs which do nothing completed, each node with its share of callers and slots. Reported is the
// total per second with two and with three nodes against one, and against as many nodes with a store each on the same server,
// which share nothing but the machine: what nodes on one store are slower than those is what they cost each other. All of it
// runs on one machine, so nothing can be gained. Not measured: nodes on machines of their own.

import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { perSecond, report } from './figures.ts'
import { withServer } from './postgres/database.ts'
import { withNodes } from './postgres/nodes.ts'
import { median, timed } from './rounds.ts'

const emitterCount = 96
const eventsPerRun = 1_000
const callerCount = 384
const runsPerCaller = 24
const slotCount = 192
const roundCount = 3

interface Took {
  readonly eventsMs: number
  readonly runsMs: number
}

async function measure(server: PostgresServer, nodeCount: number, stores: 'one store' | 'a store each'): Promise<Took> {
  const node = { executes: true, slots: slotCount / nodeCount }
  const took = { eventsMs: 0, runsMs: 0 }
  await withNodes(
    server,
    Array.from({ length: nodeCount }, () => node),
    async (nodes) => {
      const all = (callers: number, runs: number, agent: string, count: number) =>
        Promise.all(
          nodes.map(({ child }, n) => {
            const given = { name: `${agent}-${n}`, callers: callers / nodeCount, runs, agent, input: { count } }
            return child.ask('complete', given)
          }),
        )
      await all(callerCount, 8, 'nothing', 0)
      took.runsMs = await timed(() => all(callerCount, runsPerCaller, 'nothing', 0))
      took.eventsMs = await timed(() => all(emitterCount, 1, 'emitter', eventsPerRun))
    },
    stores,
  )
  return took
}

/** One round: a single node, and so many nodes, on one store and with a store each. */
interface Round {
  readonly one: Took
  readonly shared: ReadonlyMap<number, Took>
  readonly apart: ReadonlyMap<number, Took>
}

const nodeCounts = [2, 3]

async function measureRound(server: PostgresServer): Promise<Round> {
  const one = await measure(server, 1, 'one store')
  const shared = new Map<number, Took>()
  const apart = new Map<number, Took>()
  for (const count of nodeCounts) {
    shared.set(count, await measure(server, count, 'one store'))
    apart.set(count, await measure(server, count, 'a store each'))
  }
  return { one, shared, apart }
}

function reportCount(rounds: readonly Round[], count: number, what: keyof Took): void {
  const total = what === 'eventsMs' ? emitterCount * eventsPerRun : callerCount * runsPerCaller
  const msOf = (took: Took | undefined) => took?.[what] ?? Number.NaN
  const rate = (of: (round: Round) => Took | undefined) =>
    perSecond(total, median(rounds.map((round) => msOf(of(round)))))
  const shared = (round: Round) => round.shared.get(count)
  const baselines = {
    one: (round: Round) => round.one,
    'as many with a store each': (round: Round) => round.apart.get(count),
  }
  for (const [name, of] of Object.entries(baselines)) {
    report({
      what: `PostgreSQL: ${what === 'eventsMs' ? 'events' : 'runs'} per second of ${count} nodes against ${name}`,
      value: median(rounds.map((round) => msOf(of(round)) / msOf(shared(round)))),
      unit: '×',
      atLeast: 0.9,
      of: `${rate(shared)} against ${rate(of)}`,
    })
  }
}

await withServer(async (server) => {
  const rounds: Round[] = []
  for (let n = 0; n < roundCount; n++) rounds.push(await measureRound(server))
  for (const count of nodeCounts) for (const what of ['eventsMs', 'runsMs'] as const) reportCount(rounds, count, what)
})
