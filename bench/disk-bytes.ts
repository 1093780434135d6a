// How much disk does an event take? Run with `node bench/disk-bytes.ts`.
//
// 100 tasks, each in a thread of its own, emit 300 events of 300 bytes: as fast as they may, so that a commit holds many
// events of a thread, and one per turn of the event loop, so that it holds few. Measured is the size of the SQLite file
// after a close, with the rows of the tasks and threads, by the bytes of the events' data. Not measured: the write-ahead
// log beside the open file, messages, results.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AgentContext, createRuntime } from '../src/index.ts'
import { report } from './figures.ts'
import { each } from './rounds.ts'
import { eventBytes, fileBytes, payload, withPath } from './sqlite-load.ts'

const taskCount = 100
const eventsPerTask = 300
const eventCount = taskCount * eventsPerTask

function bytesOnDisk(pace: 'fast' | 'slow'): Promise<number> {
  return withPath(async (path) => {
    const emitter = async (ctx: AgentContext) => {
      for (let i = 0; i < eventsPerTask; i++) {
        await ctx.emit(payload.name, payload.payload)
        if (pace === 'slow') await nextTurn()
      }
    }
    const runtime = createRuntime({ store: `sqlite:${path}`, agents: { emitter } })
    await each(taskCount, async (n) => {
      const { id } = await runtime.run({ thread: `thread-${n}`, agent: 'emitter', prompt: 'go' })
      await runtime.wait(id)
    })
    await runtime.close()
    return fileBytes(path)
  })
}

for (const pace of ['fast', 'slow'] as const) {
  const bytes = await bytesOnDisk(pace)
  report({
    what: `bytes on disk per byte of events, emitted ${pace === 'fast' ? 'at full speed' : 'one per turn'}`,
    value: bytes / eventCount / eventBytes,
    unit: '×',
    atMost: 1.3,
    of: `${Math.round(bytes / eventCount)} for ${eventBytes}`,
  })
}
