import { describe, expect, it } from 'vitest'
import { wakeBytesMax, wakeResultsMax } from '../../../src/core/live-part.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import { readUntaken } from '../../../src/runtime/read-untaken.ts'
import { memoryStore } from '../../../src/stores/memory/index.ts'
import { accepting, ended, home } from '../../../src/testing/store-suite/builders.ts'

async function readOf(count: number, fields: Partial<TaskRecord> & { readonly status?: 'completed' } = {}) {
  const store = memoryStore()
  await store.open()
  await store.commit(Array.from({ length: count }, (_, n) => accepting(ended(`bg_${n}`, fields))))
  return readUntaken(store, home)
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
    expect((await readOf(250, { result })).length).toBeLessThan(250)
  })
})
