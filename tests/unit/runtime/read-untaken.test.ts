import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { emptyPart, wakeBytesMax, wakeResultsMax } from '../../../src/core/live-part.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { readUntaken } from '../../../src/runtime/read-untaken.ts'
import { Threads } from '../../../src/runtime/threads.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import type { OwedQuery, Store, TaskQuery } from '../../../src/stores/store.ts'
import { accepting, ended, home } from '../../../src/testing/store-suite/builders.ts'
import { taskRecord } from '../core/task-record.ts'

async function readOf(count: number, fields: Partial<TaskRecord> & { readonly status?: 'completed' } = {}) {
  const store = memoryStore()
  await store.open()
  await store.commit(Array.from({ length: count }, (_, n) => accepting(ended(`bg_${n}`, fields))))
  return readUntaken(store, emptyPart(home))
}

const mib = 1024 * 1024

/** A store with a thousand of them, which leaves out what it may. What it gives out is counted, in characters. */
function storeOfThousand(fields: Partial<TaskRecord>) {
  const given = { length: 0 }
  const tasks: Store['tasks'] = async (query: TaskQuery | OwedQuery) => {
    if ('owedBy' in query) return { tasks: [] }
    const from = Number(query.cursor ?? 0)
    const to = Math.min(1000, from + query.limit)
    const { input, ...end } = fields
    const read = { status: 'completed' as const, ...end, ...(input !== undefined && !query.toDecide && { input }) }
    const page = Array.from({ length: to - from }, (_, n) => taskRecord(`bg_${from + n}`, read))
    const length = page.reduce((sum, { input = '', result = '' }) => sum + input.length + result.length, 0)
    given.length += length
    return { tasks: page, ...(to < 1000 && { cursor: String(to) }) }
  }
  return { store: { tasks }, given }
}

describe('what nobody took, read for a wake', () => {
  it('is all of it, over any number of pages, oldest first', async () => {
    const records = await readOf(250)
    expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, n) => `bg_${n}`))
  })

  it('is not much more than one wake takes', async () => {
    const countOfMany = (await readOf(wakeResultsMax + 500)).length
    expect(countOfMany).toBeGreaterThanOrEqual(wakeResultsMax)
    expect(countOfMany).toBeLessThan(wakeResultsMax + 500)
    const result = JSON.stringify('x'.repeat(wakeBytesMax / 50))
    expect((await readOf(250, { result })).length).toBeLessThanOrEqual(50)
  })

  it('is read without what the tasks were given, and kept without it where a store gives it', async () => {
    const input = JSON.stringify('x'.repeat(mib))
    const { store, given } = storeOfThousand({ input, result: '1' })
    expect(await readUntaken(store, emptyPart(home))).toHaveLength(1000)
    expect(given.length).toBeLessThan(mib)
    const records = await readOf(20, { input })
    expect(records.map((record) => record.input)).toEqual(Array(20).fill(undefined))
  })

  it('is read and kept a few at a time, however large results are', async () => {
    const { store, given } = storeOfThousand({ result: JSON.stringify('x'.repeat(8 * mib)) })
    expect(await readUntaken(store, emptyPart(home))).toHaveLength(1)
    expect(given.length).toBeLessThan(64 * mib)
  })

  it('has room for all of it, whatever a live parent may still read', async () => {
    const store = memoryStore()
    await store.open()
    const result = JSON.stringify('x'.repeat(wakeBytesMax))
    const child = ended('bg_1', { parent: { task: taskId('bg_0') }, result })
    const parent = taskRecord('bg_0', { status: 'running', type: 'agent', key: home })
    await store.commit([parent, child, ended('bg_2'), ended('bg_3')].map((record) => accepting(record)))
    const threads = new Threads(store)
    threads.wantUntaken(home)
    await threads.load(home)
    const live = threads.get(home)
    expect(Array.from(live?.ended() ?? [], ({ id }) => id)).toEqual(['bg_1'])
    expect(Array.from(live?.untaken() ?? [], ({ id }) => id)).toEqual(['bg_2', 'bg_3'])
  })
})
