// Does a task that floods delay the others? Run with `node bench/flood.ts`.
//
// 20 tasks, each in a thread of its own with one subscriber, emit an event of 300 bytes about every 4 ms for a second,
// without and with another task that emits as fast as it may, waiting for room as agents do. Measured is the time from
// an emit to its arrival at the subscriber, on SQLite; compared are the 99th percentiles, round by round. Not measured: a
// flood that has watchers of its own, an agent that blocks the event loop.

import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentContext, createRuntime, type Runtime } from '../src/index.ts'
import { report } from './figures.ts'
import { each, median, quantile } from './rounds.ts'
import { payload, withPath } from './sqlite-load.ts'

const quietCount = 20
const pauseMs = 4
const roundMs = 1_000
const roundCount = 5

async function quiet(ctx: AgentContext): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < roundMs) {
    await sleep(pauseMs)
    await ctx.emit('tick', { emittedAt: performance.now(), text: payload.payload })
  }
}

async function flood(ctx: AgentContext): Promise<void> {
  while (!ctx.signal.aborted) await ctx.emit(payload.name, payload.payload)
}

async function delaysMs(runtime: Runtime, n: number): Promise<number[]> {
  const thread = `thread-${n}`
  const { id } = await runtime.run({ thread, agent: 'quiet', prompt: 'go' })
  const delays: number[] = []
  for await (const event of runtime.subscribe({ thread, task: id })) {
    if (event.type !== 'custom') continue
    delays.push(performance.now() - (event.data.payload as { emittedAt: number }).emittedAt)
  }
  return delays
}

function p99(isFlooded: boolean): Promise<number> {
  return withPath(async (path) => {
    const runtime = createRuntime({ store: `sqlite:${path}`, agents: { quiet, flood } })
    await runtime.opened()
    const flooding = isFlooded && (await runtime.run({ thread: 'flooded', agent: 'flood', prompt: 'go' }))
    const delays: number[] = []
    await each(quietCount, async (n) => delays.push(...(await delaysMs(runtime, n))))
    if (flooding) await runtime.cancel(flooding.id)
    await runtime.close()
    return quantile(delays, 0.99)
  })
}

const rounds: { without: number; with: number }[] = []
await p99(true)
for (let round = 0; round < roundCount; round++) rounds.push({ without: await p99(false), with: await p99(true) })
const [without, flooded] = [median(rounds.map((round) => round.without)), median(rounds.map((round) => round.with))]
report({
  what: 'emit to subscriber p99 beside a flood',
  value: median(rounds.map((round) => round.with / round.without)),
  unit: '×',
  atMost: 2,
  of: `${flooded.toFixed(1)} ms against ${without.toFixed(1)} ms without it`,
})
