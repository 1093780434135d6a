// How much memory does waiting take? Run with `node bench/idle-heap.ts`.
//
// 10,000 tasks, each in a thread of its own, that wait in `ctx.receive`; and 10,000 subscribers that each wait for the
// next event of a thread of their own. Measured is the heap in use after a garbage collection, against the same process
// before them, on SQLite, in a child process started with --expose-gc. Not measured: memory outside the JavaScript
// heap, tasks that hold something of their own, sockets.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AgentContext, createRuntime, type Runtime } from '../src/index.ts'
import { report } from './figures.ts'
import { each } from './rounds.ts'
import { withPath } from './sqlite-load.ts'

const count = 10_000
// As many as a careful caller has on their way.
const inFlightCount = 500

async function heapBytes(): Promise<number> {
  // What has just been answered is still referred to until the turn is over, and finalizers want a second look.
  for (let i = 0; i < 3; i++) {
    await nextTurn()
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

/** Bytes per item of what `fill` makes, on a runtime whose one agent parks. */
async function heapPerItem(
  path: string,
  fill: (runtime: Runtime, parked: () => number) => Promise<void>,
): Promise<number> {
  let parkedCount = 0
  const receiver = async (ctx: AgentContext) => {
    parkedCount += 1
    await ctx.receive()
  }
  const runtime = createRuntime({ store: `sqlite:${path}`, agents: { receiver } })
  // A first task and a first subscriber load what all share.
  await runtime.spawn({ thread: 'first', agent: 'receiver' })
  void runtime.subscribe({ thread: 'never-used' }).next()
  const before = await heapBytes()
  await fill(runtime, () => parkedCount)
  const after = await heapBytes()
  await runtime.close({ drainMs: 0 })
  return (after - before) / count
}

async function park(runtime: Runtime, parked: () => number): Promise<void> {
  for (let first = 0; first < count; first += inFlightCount) {
    await each(inFlightCount, (n) => runtime.spawn({ thread: `thread-${first + n}`, agent: 'receiver' }))
  }
  while (parked() <= count) await nextTurn()
}

async function watch(runtime: Runtime): Promise<void> {
  for (let n = 0; n < count; n++) {
    void runtime.subscribe({ thread: `thread-${n}`, after: 0 }).next()
    if (n % inFlightCount === 0) await nextTurn()
  }
}

async function measure(): Promise<void> {
  const of = `each of ${count.toLocaleString('en')}`
  const parked = await withPath((path) => heapPerItem(path, park))
  report({ what: 'heap of a parked task', value: parked / 1000, unit: ' kB', atMost: 10, of })
  const idle = await withPath((path) => heapPerItem(path, watch))
  report({ what: 'heap of an idle subscriber', value: idle / 1000, unit: ' kB', atMost: 4, of })
}

if (globalThis.gc) await measure()
else {
  const child = fork(import.meta.filename, { execArgv: ['--expose-gc'] })
  child.on('message', (figure) => process.send?.(figure))
  await once(child, 'exit')
}
