// How long does one event take? Run with `node bench/server-latency.ts`.
//
// On an idle server: milliseconds from the POST of a run to its first event at a subscriber that is already there; from the
// POST of a cancel to the terminal event; and how much longer an event of a run that emits 100 per second is under
// way than one that a bare node:http server writes by itself. All at a client in another process, by the clock of the
// machine.

import { report } from './figures.ts'
import { median, quantile } from './rounds.ts'
import { type Cast, newThread, withCast } from './server/cast.ts'

const sampleCount = 300

function reportLatency(what: string, took: readonly number[]): void {
  const of = `of ${took.length}`
  report({ what: `${what}, p50`, value: median(took), unit: ' ms', atMost: 5, of })
  report({ what: `${what}, p99`, value: quantile(took, 0.99), unit: ' ms', atMost: 20, of })
}

async function firstEvents({ client, url }: Cast): Promise<number[]> {
  const took: number[] = []
  for (let n = 0; n < sampleCount; n++) {
    const thread = newThread()
    const target = { url, path: `/v1/threads/${thread}/events` }
    const given = { url, path: `/v1/threads/${thread}/runs`, body: { agent: 'speaker', prompt: 'go' } }
    took.push(await client.ask<number>('until', { target, given, until: '"type":"text.delta"' }))
  }
  return took
}

async function cancels({ client, url }: Cast): Promise<number[]> {
  const took: number[] = []
  for (let n = 0; n < sampleCount; n++) {
    const thread = newThread()
    const target = { url, path: `/v1/threads/${thread}/events` }
    const body = { agent: 'parked', prompt: 'go' }
    const { id } = await client.ask<{ id: string }>('post', { url, path: `/v1/threads/${thread}/runs`, body })
    const given = { url, path: `/v1/tasks/${id}/cancel`, body: {} }
    took.push(await client.ask<number>('until', { target, given, until: '"type":"task.cancelled"' }))
  }
  return took
}

async function added({ client, url, bareUrl }: Cast): Promise<void> {
  const paced = { count: 300, perSecond: 100 }
  const thread = newThread()
  const ours = await client.ask<number[]>('latencies', {
    target: { url, path: `/v1/threads/${thread}/events` },
    given: { url, path: `/v1/threads/${thread}/runs`, body: { agent: 'emitter', input: paced } },
  })
  const channel = newThread()
  const bare = await client.ask<number[]>('latencies', {
    target: { url: bareUrl, path: `/events/${channel}` },
    given: { url: bareUrl, path: '/go', body: { channel, mode: 'naive', ...paced } },
  })
  report({
    what: 'added to a live event at 100 per second, p50',
    value: median(ours) - median(bare),
    unit: ' ms',
    atMost: 3,
    of: `${median(ours).toFixed(2)} ms against ${median(bare).toFixed(2)} ms naive`,
  })
}

await withCast(100, async (cast) => {
  await firstEvents(cast)
  reportLatency('POST to first event', await firstEvents(cast))
  reportLatency('cancel to terminal event', await cancels(cast))
  await added(cast)
})
