// How many events per second become durable? Run with `node bench/durable-events.ts`.
//
// 100 tasks, each in a thread of its own, emit 2,000 events of 300 bytes as fast as they may, waiting for room as agents
// do; a task is done when all it emitted is on disk. Measured through createRuntime on SQLite, against bare node:sqlite
// that encodes the same events and inserts them as chunk rows, 500 events per transaction, with the same index and
// settings. The delay of the event loop is measured during the same load. Not measured: agents that do something
// else, watchers, starting and ending the tasks.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentContext, createRuntime } from '../src/index.ts'
import { bareDatabase } from './bare-database.ts'
import { perSecond, report } from './figures.ts'
import { compare, each, median, timed } from './rounds.ts'
import { eventBytes, payload, withPath } from './sqlite-load.ts'

const taskCount = 100
const eventsPerTask = 2_000
const eventsPerTransaction = 500
const eventCount = taskCount * eventsPerTask
const delays: { p99: number; max: number }[] = []

function ours(): Promise<number> {
  return withPath(async (path) => {
    const go = Promise.withResolvers<void>()
    const emitter = async (ctx: AgentContext) => {
      await go.promise
      for (let i = 0; i < eventsPerTask; i++) await ctx.emit(payload.name, payload.payload)
      // A step is recorded after everything that was emitted before it.
      await ctx.step('flushed', () => null)
    }
    const runtime = createRuntime({ store: `sqlite:${path}`, agents: { emitter } })
    const tasks: string[] = []
    await each(taskCount, async (n) => {
      const { id } = await runtime.run({ thread: `thread-${n}`, agent: 'emitter', prompt: 'go' })
      tasks.push(id)
    })
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    // The first delay it sees is that after its first sample.
    await sleep(20)
    const took = await timed(() => {
      go.resolve()
      return each(taskCount, (n) => runtime.wait(tasks[n] ?? ''))
    })
    delay.disable()
    delays.push({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 })
    await runtime.close()
    return took
  })
}

function baseline(): Promise<number> {
  return withPath(async (path) => {
    const database = bareDatabase(path)
    const insert = database.prepare('INSERT INTO chunks (thread, first, last, at, body) VALUES (?, ?, ?, ?, ?)')
    const eventsPerChunk = eventsPerTransaction / taskCount
    const took = await timed(() => {
      for (let head = 0; head < eventsPerTask; head += eventsPerChunk) {
        database.exec('BEGIN IMMEDIATE')
        for (let thread = 0; thread < taskCount; thread++) {
          const lines = Array.from(
            { length: eventsPerChunk },
            () => `custom\tbg_${thread}\t1\t\t${JSON.stringify(payload)}`,
          )
          insert.run(thread, head + 1, head + eventsPerChunk, Date.now(), lines.join('\n'))
        }
        database.exec('COMMIT')
      }
    })
    database.close()
    return took
  })
}

const { ratio, oursMs, baselineMs } = await compare(3, baseline, ours)
report({
  what: `durable events of ${eventBytes} bytes, ${taskCount} tasks`,
  value: ratio,
  unit: '×',
  atLeast: 0.4,
  of: `${perSecond(eventCount, oursMs)} against ${perSecond(eventCount, baselineMs)} bare`,
})
report({
  what: 'event loop delay p99 under that load',
  value: median(delays.map(({ p99 }) => p99)),
  unit: ' ms',
  atMost: 20,
  of: `longest ${delays.map(({ max }) => max.toFixed(0)).join(', ')} ms`,
})
