// How many events per second reach subscribers over SSE? Run with `node bench/server-streams.ts`.
//
// A run emits events of 300 bytes on a Holdfast server with SQLite; subscribers on sockets of their own, in another
// process, have had them when the last frame is there. The baselines are bare node:http servers that send the same frames,
// recorded before: *naive* with one write per event and subscriber, *joined* with all events of a millisecond in one
// write per subscriber. Naive gives way to the event loop after each event, joined every 20; both wait when a socket is full.
// Ours includes accepting the run and committing every event. Not measured: parsing by the client, a network.

import { perSecond, report } from './figures.ts'
import { median } from './rounds.ts'
import { bareEmitting, type Cast, emitting, newThread, withCast } from './server/cast.ts'

interface Row {
  readonly what: string
  readonly runs: number
  readonly subscribers: number
  /** Per run. */
  readonly events: number
  readonly naiveAtLeast: number
  readonly joinedAtLeast?: number
}

const rows: readonly Row[] = [
  { what: '1 run to 1 subscriber', runs: 1, subscribers: 1, events: 20_000, naiveAtLeast: 1.5 },
  { what: '100 runs to 1 each', runs: 100, subscribers: 1, events: 400, naiveAtLeast: 1 },
  { what: '1 run to 100', runs: 1, subscribers: 100, events: 3_000, naiveAtLeast: 5, joinedAtLeast: 0.4 },
  { what: '1 run to 1,000', runs: 1, subscribers: 1_000, events: 500, naiveAtLeast: 5, joinedAtLeast: 0.4 },
]
const roundCount = 5
const longRun = 100_000
const shortRun = 1_000

interface Work {
  readonly targets: readonly object[]
  readonly posts: readonly object[]
}

function times(count: number, make: () => Work): Work {
  const all = Array.from({ length: count }, make)
  return { targets: all.flatMap(({ targets }) => targets), posts: all.flatMap(({ posts }) => posts) }
}

/** Milliseconds of each side in each round; the first round warms up. */
async function rounds({ client, url, bareUrl }: Cast, row: Row) {
  const { runs, subscribers, events } = row
  const took: { ours: number; naive: number; joined: number }[] = []
  const bare = (mode: 'naive' | 'joined') => times(runs, () => bareEmitting(bareUrl, mode, subscribers, events))
  for (let round = 0; round <= roundCount; round++) {
    const naive = await client.ask<number>('fanOut', bare('naive'))
    const joined = await client.ask<number>('fanOut', bare('joined'))
    const ours = await client.ask<number>(
      'fanOut',
      times(runs, () => emitting(url, newThread(), subscribers, events)),
    )
    if (round > 0) took.push({ ours, naive, joined })
  }
  return took
}

async function compareRow(cast: Cast, row: Row): Promise<void> {
  const took = await rounds(cast, row)
  const deliveries = row.runs * row.subscribers * row.events
  const oursMs = median(took.map(({ ours }) => ours))
  for (const side of ['naive', 'joined'] as const) {
    const atLeast = side === 'naive' ? row.naiveAtLeast : row.joinedAtLeast
    if (atLeast === undefined) continue
    const bareMs = median(took.map((round) => round[side]))
    report({
      what: `${row.what}, against ${side}`,
      value: median(took.map((round) => round[side] / round.ours)),
      unit: '×',
      atLeast,
      of: `${perSecond(deliveries, oursMs)} against ${perSecond(deliveries, bareMs)}`,
    })
  }
}

/** Deliveries per second of long runs against those of short ones, as many events in all. */
async function compareLengths({ client, url }: Cast, subscribers: number): Promise<void> {
  const run = (events: number) => client.ask<number>('fanOut', emitting(url, newThread(), subscribers, events))
  const ratios: number[] = []
  for (let round = 0; round < 3; round++) {
    let shortMs = 0
    for (let n = 0; n < longRun / shortRun; n++) shortMs += await run(shortRun)
    ratios.push(shortMs / (await run(longRun)))
  }
  report({
    what: `runs of 100,000 events to ${subscribers}`,
    value: median(ratios),
    unit: '×',
    atLeast: 0.9,
    of: 'the rate with runs of 1,000',
  })
}

await withCast(20_000, async (cast) => {
  for (const row of rows) await compareRow(cast, row)
  await compareLengths(cast, 1)
  await compareLengths(cast, 20)
})
