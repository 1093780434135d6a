// How many runs per second are accepted? Run with `node bench/server-accept.ts`.
//
// Runs of an agent that does nothing are posted to distinct threads with 1, 32 and 256 in flight, against a bare node:http
// server that stores one row per request in SQLite, all requests of a turn in one commit. Held means that no run is
// executed meanwhile, because the one slot is taken. Both serve some thousand requests before anything counts: code that is
// compiled as it runs is another measurement. Not measured: TLS, a network.

import { perSecond, report } from './figures.ts'
import { median } from './rounds.ts'
import { newThread } from './server/cast.ts'
import { Child } from './server/child.ts'

const roundCount = 5
const warmUp = { inFlight: 32, count: 20_000 }

async function measure(what: string, holdfast: Child, bare: Child, client: Child, atLeast: number): Promise<void> {
  const [url, bareUrl] = await Promise.all([holdfast.ask<string>('url'), bare.ask<string>('url')])
  const both = async ({ inFlight, count }: typeof warmUp): Promise<{ ours: number; bare: number }> => {
    const posts = { body: { agent: 'nothing', prompt: 'go' }, count, inFlight }
    const bareMs = await client.ask<number>('posts', { ...posts, url: bareUrl, paths: ['/rows'] })
    const paths = Array.from({ length: count }, () => `/v1/threads/${newThread()}/runs`)
    return { bare: bareMs, ours: await client.ask<number>('posts', { ...posts, url, paths }) }
  }
  await both(warmUp)
  for (const inFlight of [1, 32, 256]) {
    const count = inFlight === 1 ? 500 : 5_000
    const took: { ours: number; bare: number }[] = []
    for (let round = 0; round < roundCount; round++) took.push(await both({ inFlight, count }))
    const [oursMs, bareMs] = [median(took.map(({ ours }) => ours)), median(took.map(({ bare }) => bare))]
    report({
      what: `accepted runs${what}, ${inFlight} in flight`,
      value: median(took.map(({ ours, bare }) => bare / ours)),
      unit: '×',
      atLeast,
      of: `${perSecond(count, oursMs)} against ${perSecond(count, bareMs)} bare`,
    })
  }
}

const bare = new Child('./bare-process.ts')
const client = new Child('./client-process.ts')
const free = new Child('./holdfast-process.ts')
await measure('', free, bare, client, 0.3)
await free.end()
const held = new Child('./holdfast-process.ts', ['1'])
const url = await held.ask<string>('url')
await client.ask('post', { url, path: '/v1/threads/blocker/runs', body: { agent: 'busy', prompt: 'go' } })
await measure(', execution held', held, bare, client, 0.5)
for (const child of [held, bare, client]) await child.end()
