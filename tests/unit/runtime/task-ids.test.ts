import { describe, expect, it } from 'vitest'
import { taskId } from '../../../src/core/id.ts'
import { outOfTaskIds, SequentialTaskIds } from '../../../src/runtime/task-ids.ts'

/** Ids from a store that has given out so many numbers. */
function idsFrom(next: number): SequentialTaskIds {
  return new SequentialTaskIds(async (count) => {
    next += count
    return next - count
  })
}

describe('sequential task ids', () => {
  it('are handed out in order, and those put back come first again', async () => {
    const ids = idsFrom(3)
    expect(() => ids.take()).toThrow(outOfTaskIds)
    await ids.refill(3)
    expect([ids.take(), ids.take()]).toEqual(['bg_3', 'bg_4'])
    ids.putBack([taskId('bg_4'), taskId('bg_3')])
    expect([ids.take(), ids.take(), ids.take()]).toEqual(['bg_3', 'bg_4', 'bg_5'])
    expect(() => ids.take()).toThrow(outOfTaskIds)
  })

  it('go on above those of restored tasks, however these are called', async () => {
    const ids = idsFrom(0)
    await ids.refill(14)
    ids.reserve(['bg_5', 'bg_10', 'bg_012', 'other', 'bg_99x'].map(taskId))
    expect([ids.take(), ids.take()]).toEqual(['bg_11', 'bg_12'])
  })

  it('are never those of restored tasks, neither put back nor fetched while the restore is on its way', async () => {
    const ids = idsFrom(0)
    await ids.refill(2)
    const early = ids.take()
    const fetching = ids.refill(4)
    ids.reserve(['bg_0', 'bg_3'].map(taskId))
    ids.putBack([early])
    await fetching
    expect([ids.take(), ids.take(), ids.take()]).toEqual(['bg_2', 'bg_4', 'bg_5'])
  })
})
