import { describe, expect, it } from 'vitest'
import type { EventDraft, EventType } from '../../../src/core/event.ts'
import { LiveOutputs } from '../../../src/runtime/live-outputs.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { EventQuery, Store } from '../../../src/stores/store.ts'
import { key, taskRecord } from '../core/task-record.ts'

const record = taskRecord('bg_0', { firstSeq: 1 })
const say = (text: string) => event('text.delta', { text })

function event(type: EventType, data: unknown): EventDraft {
  return { type, task: record.id, data: JSON.stringify(data) }
}

/** What the tasks of a node elsewhere have put out, on a store that gives pages of two events and notes what it is asked for. */
async function outputsOf(...events: EventDraft[]) {
  const inner = memoryStore()
  await inner.open()
  const queries: EventQuery[] = []
  let isTorn = false
  const read: Store['events'] = async (thread, query) => {
    queries.push(query)
    if (isTorn) throw new Error('a row is torn')
    return inner.events(thread, { ...query, limit: 2 })
  }
  const write = async (...more: EventDraft[]) => {
    await inner.commit([{ operation: 'emit', thread: key, events: more }])
  }
  await write(...events)
  const store = new Proxy(inner, { get: (_target, name) => (name === 'events' ? read : undefined) })
  const outputs = new LiveOutputs({ store, executor: { get: () => undefined } })
  const tear = (torn: boolean) => {
    isTorn = torn
  }
  return { outputs, queries, write, tear }
}

describe('what a task of another node has put out', () => {
  it('is read once for all who ask at the same time', async () => {
    const { outputs, queries } = await outputsOf(say('a'), say('b'), say('c'))
    const all = await Promise.all([1, 2, 3].map(() => outputs.at(record, 3)))
    expect(all.map(({ said }) => said)).toEqual(['abc', 'abc', 'abc'])
    expect(queries.map(({ after }) => after)).toEqual([0, 2])
  })

  it('is read on from where somebody is who asked at an earlier head', async () => {
    const { outputs, queries, write } = await outputsOf(say('a'), say('b'), say('c'))
    const first = outputs.at(record, 3)
    await write(say('d'), say('e'))
    const [earlier, later, last] = await Promise.all([first, outputs.at(record, 4), outputs.at(record, 5)])
    expect([earlier.said, later.said, last.said]).toEqual(['abc', 'abcd', 'abcde'])
    expect(queries.map(({ after }) => after)).toEqual([0, 2, 3, 4])
  })

  it('is read anew by who asks at an earlier head, or after a resume', async () => {
    const { outputs, write } = await outputsOf(say('a'), say('b'), say('c'))
    const first = outputs.at(record, 3)
    const before = outputs.at(record, 2)
    await write(event('task.resumed', { attempt: 2, node: 'n', keep: 1 }), say('d'))
    const all = await Promise.all([first, before, outputs.at({ ...record, attempt: 2 }, 5)])
    expect(all.map(({ said }) => said)).toEqual(['abc', 'ab', 'ad'])
  })

  it('is read anew after a reading that failed', async () => {
    const { outputs, tear } = await outputsOf(say('a'))
    tear(true)
    const failed = await Promise.allSettled([outputs.at(record, 1), outputs.at(record, 1)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    tear(false)
    expect((await outputs.at(record, 1)).said).toBe('a')
  })
})
