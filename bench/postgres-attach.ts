// How soon is a client of another node at the tail of a long live run? Run with `node bench/postgres-attach.ts`.
//
// A run on node A has emitted 100,000 events and waits for messages. Milliseconds from the moment a client asks node B for the
// snapshot of the thread, which holds all that the run has said, until it has the event that a message causes, which it sends to node B
// once it is connected after the snapshot's head: so both ways between the nodes are in it. Nodes and client are processes of their
// own. Not measured: the replay of the log.

import { report } from './figures.ts'
import { withServer } from './postgres/database.ts'
import { withNodes } from './postgres/nodes.ts'
import { median } from './rounds.ts'
import { Child } from './server/child.ts'

const eventCount = 100_000
const sampleCount = 30

await withServer(async (server) => {
  await withNodes(server, [{ executes: true }, { executes: false }], async ([a, b]) => {
    if (!a || !b) throw new Error('a node is missing')
    const client = new Child('./client-process.ts')
    const body = { agent: 'talker', input: { count: eventCount } }
    const run = await client.ask<{ id: string }>('post', { url: a.url, path: '/v1/threads/long/runs', body })
    await client.ask('seen', { target: { url: b.url, path: '/v1/threads/long/events' }, until: '"name":"said"' })
    const took: number[] = []
    for (let n = 0; n < sampleCount; n++) {
      const thread = { url: b.url, path: '/v1/threads/long' }
      const given = { url: b.url, path: `/v1/tasks/${run.id}/messages`, body: { content: 'go' } }
      took.push(await client.ask<number>('attachAnew', { thread, given }))
    }
    await client.end()
    report({
      what: 'PostgreSQL: attach on another node to a live run of 100,000 events',
      value: median(took),
      unit: ' ms',
      atMost: 500,
      of: `longest ${Math.max(...took).toFixed(0)} ms of ${sampleCount}`,
    })
  })
})
