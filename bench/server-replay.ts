// How fast does a subscriber get what happened before it came? Run with `node bench/server-replay.ts`.
//
// A finished run of 10,000 events is replayed to a fresh subscriber, from its beginning and from its middle, against a bare
// node:http server that sends the same bytes from memory. Then a subscriber attaches to a live run of 100,000 events at
// its head, and is shown the tail: milliseconds from the connection to the first byte of a new event.

import { report } from './figures.ts'
import { median } from './rounds.ts'
import { type Cast, emitting, newThread, withCast } from './server/cast.ts'

const eventCount = 10_000
const roundCount = 15
// Code is compiled as it runs; these do not count.
const warmUpCount = 10

async function replay({ client, url, bareUrl }: Cast): Promise<void> {
  const thread = newThread()
  await client.ask('fanOut', emitting(url, thread, 1, eventCount))
  for (const [what, after] of [
    ['replay of 10,000 events', 0],
    ['resume from the middle of 10,000 events', eventCount / 2],
  ] as const) {
    const took: { ours: number; bare: number }[] = []
    for (let round = -warmUpCount; round < roundCount; round++) {
      const bare = await client.ask<number>('replay', { url: bareUrl, path: after === 0 ? '/replay' : '/replay/half' })
      const ours = await client.ask<number>('replay', { url, path: `/v1/threads/${thread}/events?after=${after}` })
      if (round >= 0) took.push({ ours, bare })
    }
    const [oursMs, bareMs] = [median(took.map(({ ours }) => ours)), median(took.map(({ bare }) => bare))]
    const value = median(took.map(({ ours, bare }) => ours / bare))
    report({ what, value, unit: '×', atMost: 4, of: `${oursMs.toFixed(1)} ms against ${bareMs.toFixed(1)} ms bare` })
  }
}

async function tail({ client, url }: Cast): Promise<void> {
  const thread = newThread()
  const { id } = await client.ask<{ id: string }>('post', {
    url,
    path: `/v1/threads/${thread}/runs`,
    body: { agent: 'talker', input: { count: 100_000 } },
  })
  const target = { url, path: `/v1/threads/${thread}/events` }
  await client.ask('seen', { target, until: '"name":"said"' })
  const took: number[] = []
  for (let round = 0; round <= roundCount; round++) {
    const { head } = await client.ask<{ head: number }>('get', { url, path: `/v1/threads/${thread}` })
    const given = { url, path: `/v1/tasks/${id}/messages`, body: { content: round } }
    const ms = await client.ask<number>('attach', { target: { url, path: `${target.path}?after=${head}` }, given })
    if (round > 0) took.push(ms)
  }
  const of = `attach to first byte, longest ${Math.max(...took).toFixed(1)} ms`
  report({ what: 'tail of a live run of 100,000 events', value: median(took), unit: ' ms', atMost: 200, of })
}

await withCast(eventCount, async (cast) => {
  await replay(cast)
  await tail(cast)
})
