import { describe, expect, it } from 'vitest'
import type { TaskRecord } from '../../../src/core/task.ts'
import { LiveOutputs } from '../../../src/runtime/live-outputs.ts'
import { LogReads } from '../../../src/runtime/log-reads.ts'
import { Reads } from '../../../src/runtime/reads.ts'
import type { Store } from '../../../src/stores/store.ts'
import { taskRecord } from '../core/task-record.ts'
import { keyOf, owner, seqs, WrittenLog } from './written-log.ts'

const running = taskRecord('bg_0', { firstSeq: 1, seq: 1 })
const ended = taskRecord('bg_0', { firstSeq: 1, seq: 3, status: 'completed' })

/** A log of four events, the third of which ends the task; the record is, read after read, one of these. */
async function logsWith(
  ...records: readonly (TaskRecord | undefined)[]
): Promise<{ logs: LogReads; here: WrittenLog }> {
  const here = await WrittenLog.open()
  await here.write(keyOf('t'), { task: 'bg_0' }, { task: 'bg_1' }, { task: 'bg_0', type: 'task.completed' }, {})
  let readCount = 0
  const task: Store['task'] = () => Promise.resolve(records[readCount++])
  const store = new Proxy(here.store, { get: (target, name) => (name === 'task' ? task : Reflect.get(target, name)) })
  const { feed } = here
  const outputs = new LiveOutputs({ store, executor: { get: () => undefined } })
  const reads = new Reads({ store, principal: owner, outputs, watchersOf: () => 0 })
  return { logs: new LogReads({ store, feed, reads, principal: owner }), here }
}

describe('the log of a task that ends while it is opened', () => {
  it('is over if it ended before the start, though its record was read before', async () => {
    const { logs, here } = await logsWith(running, ended)
    const cursor = await logs.open({ thread: 't', task: 'bg_0', after: 3 })
    expect([cursor.isOver, await cursor.next(), here.feed.streamCount]).toEqual([true, undefined, 0])
  })

  it('has the terminal event if that is after the start', async () => {
    const { logs } = await logsWith(running, ended)
    const cursor = await logs.open({ thread: 't', task: 'bg_0', after: 2 })
    expect([cursor.isOver, seqs(await cursor.next()), await cursor.next()]).toEqual([false, [3], undefined])
  })

  it('is over if the task was erased meanwhile', async () => {
    const { logs } = await logsWith(running, undefined)
    expect((await logs.open({ thread: 't', task: 'bg_0', after: 4 })).isOver).toBe(true)
  })
})
