// How many runs per second are accepted, claimed and completed on PostgreSQL? Run with `node bench/postgres-runs.ts`.
//
// 512 callers, each with a thread of its own, start a run that does nothing and wait for its end, one after the other, on a node
// with 128 slots: so most runs wait until the node claims them. Measured through createRuntime, against a bare loop on one
// connection that writes the same rows to the same tables: 128 runs accepted in one transaction, claimed in the next, by
// FOR UPDATE SKIP LOCKED, and ended in a third; each table is written by one prepared statement per transaction. Both have
// completed 2,048 runs before those that count. Not measured: what runs do, several nodes, HTTP.

import { createRuntime } from '../src/index.ts'
import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { perSecond, report } from './figures.ts'
import { BareRuns } from './postgres/bare-runs.ts'
import { bareClient, newStoreUrl, withServer } from './postgres/database.ts'
import { Ends } from './postgres/ends.ts'
import { compare, each, timed } from './rounds.ts'

const callerCount = 512
const slotCount = 128
const runsBefore = 4
const runsPerCaller = 12
const runCount = callerCount * runsPerCaller

async function ours(server: PostgresServer): Promise<number> {
  const agents = { nothing: () => undefined }
  const runtime = createRuntime({ store: newStoreUrl(server), agents, concurrency: slotCount })
  await runtime.opened()
  const ends = await Ends.of(runtime)
  const complete = (count: number) =>
    each(callerCount, async (caller) => {
      for (let i = 0; i < count; i++) {
        const { id } = await runtime.run({ thread: `thread-${caller}`, agent: 'nothing', prompt: 'go' })
        await ends.of(id)
      }
    })
  await complete(runsBefore)
  const took = await timed(() => complete(runsPerCaller))
  await runtime.close()
  return took
}

async function baseline(server: PostgresServer): Promise<number> {
  const client = await bareClient(server)
  const runs = new BareRuns(client, callerCount)
  const complete = async (from: number, count: number) => {
    for (let turn = from; turn < from + count; turn++) {
      for (let first = 0; first < callerCount; first += slotCount) await runs.accept(turn, first, slotCount)
      for (let left = callerCount; left > 0; left -= slotCount) await runs.end(turn, await runs.claim(turn, slotCount))
    }
  }
  await runs.begin()
  await complete(0, runsBefore)
  const took = await timed(() => complete(runsBefore, runsPerCaller))
  await client.end()
  return took
}

await withServer(async (server) => {
  const { ratio, oursMs, baselineMs } = await compare(
    3,
    () => baseline(server),
    () => ours(server),
  )
  report({
    what: 'PostgreSQL: runs accepted, claimed and completed',
    value: ratio,
    unit: '×',
    atLeast: 0.4,
    of: `${perSecond(runCount, oursMs)} against ${perSecond(runCount, baselineMs)} bare`,
  })
})
