// What do several nodes cost each other? Run with `node bench/postgres-nodes.ts`.
//
// The same work is shared out among one, two and three node processes on one server: 96 runs that emit 1,000 events of 300 bytes
// each, and 384 callers that have runs which do nothing completed, each node with its share of callers and slots. Reported is the
// total per second with two and with three nodes against one. All of it runs on one machine, so nothing can be gained: what is
// left over is what nodes cost each other. Not measured: nodes on machines of their own.

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

async function measure(server: PostgresServer, nodeCount: number): Promise<Took> {
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
  )
  return took
}

await withServer(async (server) => {
  const rounds: Took[][] = []
  for (let round = 0; round < roundCount; round++) {
    const took: Took[] = []
    for (const nodeCount of [1, 2, 3]) took.push(await measure(server, nodeCount))
    rounds.push(took)
  }
  for (const nodeCount of [2, 3]) {
    for (const what of ['eventsMs', 'runsMs'] as const) {
      const ms = (count: number) => median(rounds.map((took) => took[count - 1]?.[what] ?? Number.NaN))
      const total = what === 'eventsMs' ? emitterCount * eventsPerRun : callerCount * runsPerCaller
      report({
        what: `PostgreSQL: ${what === 'eventsMs' ? 'events' : 'runs'} per second of ${nodeCount} nodes against one`,
        value: median(
          rounds.map((took) => (took[0]?.[what] ?? Number.NaN) / (took[nodeCount - 1]?.[what] ?? Number.NaN)),
        ),
        unit: '×',
        atLeast: 0.9,
        of: `${perSecond(total, ms(nodeCount))} against ${perSecond(total, ms(1))}`,
      })
    }
  }
})
