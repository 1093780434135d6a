// How many events per second become durable on PostgreSQL? Run with `node bench/postgres-events.ts`.
//
// 100 tasks, each in a thread of its own, emit 2,000 events of 300 bytes as fast as they may, waiting for room as agents
// do; a task is done when all it emitted is committed. Measured through createRuntime, against bare pg that encodes the same
// events and inserts them as chunk rows of the same size into the same table, one statement per transaction and 100 rows per
// statement, prepared once. One connection writes on either side; server and node share the machine. Not measured: agents that
// do something else, watchers, starting and ending the tasks.

import { type AgentContext, createRuntime } from '../src/index.ts'
import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { perSecond, report } from './figures.ts'
import { bareClient, newStoreUrl, withServer } from './postgres/database.ts'
import { compare, each, timed } from './rounds.ts'
import { eventBytes, payload } from './sqlite-load.ts'

const taskCount = 100
const eventsPerTask = 2_000
const eventCount = taskCount * eventsPerTask
/** What a flush of ours holds of each task, about. */
const eventsPerChunk = 16

async function ours(server: PostgresServer): Promise<number> {
  const go = Promise.withResolvers<void>()
  const emitter = async (ctx: AgentContext) => {
    await go.promise
    for (let i = 0; i < eventsPerTask; i++) await ctx.emit(payload.name, payload.payload)
    // A step is recorded after everything that was emitted before it.
    await ctx.step('flushed', () => null)
  }
  const runtime = createRuntime({ store: newStoreUrl(server), agents: { emitter } })
  const tasks: string[] = []
  await each(taskCount, async (n) => {
    const { id } = await runtime.run({ thread: `thread-${n}`, agent: 'emitter', prompt: 'go' })
    tasks.push(id)
  })
  const took = await timed(() => {
    go.resolve()
    return each(taskCount, (n) => runtime.wait(tasks[n] ?? ''))
  })
  await runtime.close()
  return took
}

async function baseline(server: PostgresServer): Promise<number> {
  const client = await bareClient(server)
  const rows = Array.from({ length: taskCount }, (_, n) => `(${[1, 2, 3, 4, 5].map((i) => `$${n * 5 + i}`).join()})`)
  const text = `INSERT INTO chunks (thread, first, last, at, body) VALUES ${rows.join()}`
  const took = await timed(async () => {
    for (let head = 0; head < eventsPerTask; head += eventsPerChunk) {
      const values: unknown[] = []
      for (let thread = 0; thread < taskCount; thread++) {
        const event = () => `custom\tbg_${thread}\t1\t\t${JSON.stringify(payload)}`
        const lines = Array.from({ length: eventsPerChunk }, event)
        values.push(thread, head + 1, head + eventsPerChunk, Date.now(), lines.join('\n'))
      }
      await client.query({ name: 'append', text, values })
    }
  })
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
    what: `PostgreSQL: durable events of ${eventBytes} bytes, ${taskCount} tasks`,
    value: ratio,
    unit: '×',
    atLeast: 0.4,
    of: `${perSecond(eventCount, oursMs)} against ${perSecond(eventCount, baselineMs)} bare`,
  })
})
