// How soon do the runs of a killed node go on? Run with `node bench/postgres-takeover.ts`.
//
// 50 runs that take a step every 50 ms are executed by node A, with a lease of 3 s; node B has slots for them and none of their
// own. A is killed with SIGKILL. Milliseconds until each of the runs is resumed, as a client of B sees it. Not measured: what
// an agent needs to get where it was.

import { report } from './figures.ts'
import { withServer } from './postgres/database.ts'
import { withNodes } from './postgres/nodes.ts'
import { median } from './rounds.ts'
import { Child } from './server/child.ts'

const runCount = 50
const leaseMs = 3_000
const node = { executes: true, slots: runCount, leaseMs }

await withServer(async (server) => {
  const took: number[] = []
  for (let round = 0; round < 3; round++) {
    await withNodes(server, [node, node], async ([a, b]) => {
      if (!a || !b) throw new Error('a node is missing')
      const client = new Child('./client-process.ts')
      const path = (n: number, what: string) => `/v1/threads/thread-${n}/${what}`
      const runs = Array.from({ length: runCount }, (_, n) => path(n, 'runs'))
      const body = { agent: 'stepper', prompt: 'go' }
      await client.ask('posts', { url: a.url, paths: runs, body, count: runCount, inFlight: 10 })
      const resumed = runs.map((_, n) =>
        client.ask('seen', { target: { url: b.url, path: path(n, 'events') }, until: '"type":"task.resumed"' }),
      )
      // The subscribers are there before the node is gone.
      await Promise.all(
        runs.map((_, n) =>
          client.ask('seen', { target: { url: b.url, path: path(n, 'events') }, until: '"type":"task.started"' }),
        ),
      )
      const killedAt = performance.now()
      a.child.kill()
      await Promise.all(resumed)
      took.push(performance.now() - killedAt)
      await client.end()
    })
  }
  report({
    what: `PostgreSQL: ${runCount} runs of a killed node go on elsewhere, lease ${leaseMs / 1000} s`,
    value: median(took) / 1000,
    unit: ' s',
    atMost: (leaseMs + 2_000) / 1000,
    of: took.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', '),
  })
})
