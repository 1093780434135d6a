// How soon does a killed node go on? Run with `node bench/restart.ts`.
//
// A child process is killed with SIGKILL, once with 10,000 tasks that wait in `ctx.receive`, each in a thread of its own,
// and once amid a run that has emitted 10,000 events and recorded 1,000 steps. Measured is the time from createRuntime
// on what it left until every task waits again, and until the run has replayed all its steps. Not measured: the start of
// the process itself, a file that is not in memory.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AgentContext, createRuntime, type Runtime } from '../src/index.ts'
import { report } from './figures.ts'
import { each, median, timed } from './rounds.ts'
import { payload, withPath } from './sqlite-load.ts'

const taskCount = 10_000
const inFlightCount = 500
const stepCount = 1_000
const eventsPerStep = 10

type Scene = 'tasks' | 'run'

/** A runtime on a path whose agents tell when they have come as far as they go. */
function open(path: string, goal: number): { runtime: Runtime; reached: Promise<void> } {
  const reached = Promise.withResolvers<void>()
  let count = 0
  const arrive = () => {
    count += 1
    if (count === goal) reached.resolve()
  }
  const agents = {
    async receiver(ctx: AgentContext): Promise<void> {
      arrive()
      await ctx.receive()
    },
    async stepper(ctx: AgentContext): Promise<void> {
      for (let step = 0; step < stepCount; step++) {
        for (let i = 1; i < eventsPerStep; i++) await ctx.emit(payload.name, payload.payload)
        await ctx.step('step', () => ctx.emit(payload.name, payload.payload))
      }
      arrive()
      await ctx.receive()
    },
  }
  return { runtime: createRuntime({ store: `sqlite:${path}`, agents }), reached: reached.promise }
}

/** Brings a store to the scene and dies there. */
async function leave(path: string, scene: Scene): Promise<void> {
  const { runtime, reached } = open(path, scene === 'tasks' ? taskCount : 1)
  if (scene === 'run') await runtime.run({ thread: 'thread', agent: 'stepper', prompt: 'go' })
  for (let first = 0; scene === 'tasks' && first < taskCount; first += inFlightCount) {
    await each(inFlightCount, (n) => runtime.spawn({ thread: `thread-${first + n}`, agent: 'receiver' }))
  }
  await reached
  process.kill(process.pid, 'SIGKILL')
}

function restart(scene: Scene): Promise<number> {
  return withPath(async (path) => {
    const child = fork(import.meta.filename, [path, scene])
    await once(child, 'exit')
    if (child.signalCode !== 'SIGKILL') throw new Error('the child did not get as far as it should')
    let opened: Runtime | undefined
    const took = await timed(async () => {
      const { runtime, reached } = open(path, scene === 'tasks' ? taskCount : 1)
      opened = runtime
      await reached
    })
    await opened?.close({ drainMs: 0 })
    return took
  })
}

async function measure(scene: Scene, what: string, atMost: number): Promise<void> {
  const took = [await restart(scene), await restart(scene), await restart(scene)]
  const of = took.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ')
  report({ what, value: median(took) / 1000, unit: ' s', atMost, of })
}

const [path, scene] = process.argv.slice(2)
if (path !== undefined) await leave(path, scene as Scene)
else {
  await measure('tasks', `restart with ${taskCount.toLocaleString('en')} open tasks`, 3)
  await measure('run', 'resume of a run with 10,000 events and 1,000 steps', 1)
}
