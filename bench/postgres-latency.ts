// How long is an event under way from one node to a client of another? Run with `node bench/postgres-latency.ts`.
//
// 1,000 runs on node A emit 5 events per second each, and each has a subscriber on node B: milliseconds from the emit to the
// arrival at the client, by the clock of the machine. The baseline are two bare processes that do the same by an INSERT per
// commit, NOTIFY after it and a SELECT of what is new (`bench/postgres/bare-process.ts`). Both in turns. Of the events of each run
// the middle half counts, while all runs emit: that they begin and end is work that the baseline does not have. Not measured: a
// network.

import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { report } from './figures.ts'
import { bareClient, withServer } from './postgres/database.ts'
import { withNodes } from './postgres/nodes.ts'
import { median, quantile } from './rounds.ts'
import { Child } from './server/child.ts'

const streamCount = 1_000
const paced = { count: 50, everyMs: 200 }
const roundCount = 5

interface Latency {
  readonly p50: number
  readonly p99: number
}

/** By a client of its own: what one has left over from those before it would be counted to this side, a collection at a time. */
async function measure(askFor: (n: number) => { target: object; given: object }): Promise<Latency> {
  const client = new Child('./client-process.ts')
  const streams = Array.from({ length: streamCount }, (_, n) => client.ask<number[]>('latencies', askFor(n)))
  const took = (await Promise.all(streams)).flatMap((each) => each.slice(each.length / 4, (each.length * 3) / 4))
  await client.end()
  return { p50: median(took), p99: quantile(took, 0.99) }
}

async function ours(server: PostgresServer): Promise<Latency> {
  let took: Latency | undefined
  await withNodes(server, [{ executes: true, slots: streamCount }, { executes: false }], async ([a, b]) => {
    took = await measure((n) => ({
      target: { url: b?.url, path: `/v1/threads/thread-${n}/events` },
      given: { url: a?.url, path: `/v1/threads/thread-${n}/runs`, body: { agent: 'emitter', input: paced } },
    }))
  })
  if (!took) throw new Error('nothing was measured')
  return took
}

async function baseline(server: PostgresServer): Promise<Latency> {
  const setting = await bareClient(server)
  const { rows } = await setting.query<{ search_path: string }>('SHOW search_path')
  await setting.end()
  const schema = rows[0]?.search_path ?? ''
  const [writes, serves] = ['writes', 'serves'].map(
    (role) => new Child('../postgres/bare-process.ts', [server.url, schema, role]),
  ) as [Child, Child]
  const [writingUrl, servingUrl] = [await writes.ask<string>('url'), await serves.ask<string>('url')]
  const took = await measure((n) => ({
    target: { url: servingUrl, path: `/events/${n}` },
    given: { url: writingUrl, path: '/go', body: { channel: n, ...paced } },
  }))
  await Promise.all([writes.end(), serves.end()])
  return took
}

await withServer(async (server) => {
  const rounds: { ours: Latency; bare: Latency }[] = []
  for (let round = 0; round < roundCount; round++) {
    rounds.push({ bare: await baseline(server), ours: await ours(server) })
  }
  for (const share of ['p50', 'p99'] as const) {
    const ms = (side: 'ours' | 'bare') => `${median(rounds.map((round) => round[side][share])).toFixed(1)} ms`
    report({
      what: `PostgreSQL: event on node A to a client of node B, ${share}`,
      value: median(rounds.map((round) => round.ours[share] / round.bare[share])),
      unit: '×',
      atMost: 1.5,
      of: `${ms('ours')} against ${ms('bare')} bare, 1,000 streams at 5,000 per second`,
    })
  }
})
