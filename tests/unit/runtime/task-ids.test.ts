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

  it('are fetched ahead for a node under load, so that its next batch waits for no fetch', async () => {
    const asked: number[] = []
    let next = 0
    const allocate = async (count: number) => {
      asked.push(count)
      next += count
      return next - count
    }
    const ids = new SequentialTaskIds(allocate, { fetchesAhead: true })
    await ids.refill(20)
    for (let n = 0; n < 20; n++) ids.take()
    expect(asked).toEqual([20, 20])
    await new Promise(setImmediate)
    expect(ids.take()).toBe('bg_20')
  })

  it('are fetched as they are needed by a node that needs few, so that a restart leaves none out', async () => {
    const asked: number[] = []
    const allocate = async (count: number) => {
      asked.push(count)
      return 0
    }
    const ids = new SequentialTaskIds(allocate, { fetchesAhead: true })
    await ids.refill(15)
    for (let n = 0; n < 15; n++) ids.take()
    expect(asked).toEqual([15])
  })

  it('are asked for again if fetching ahead failed', async () => {
    const answers: (number | Error)[] = [0, new Error('away'), 20]
    const allocate = async () => {
      const answer = answers.shift()
      if (typeof answer === 'number') return answer
      throw answer ?? new Error('asked too often')
    }
    const ids = new SequentialTaskIds(allocate, { fetchesAhead: true })
    await ids.refill(20)
    for (let n = 0; n < 20; n++) ids.take()
    expect(() => ids.take()).toThrow(outOfTaskIds)
    await ids.refill(1)
    expect(ids.take()).toBe('bg_20')
  })

  it('are given up with those on their way once one of them turns out to be used', async () => {
    let next = 0
    const allocate = async (count: number) => {
      next += count
      return next - count
    }
    const ids = new SequentialTaskIds(allocate, { fetchesAhead: true })
    await ids.refill(20)
    for (let n = 0; n < 10; n++) ids.take()
    next = 100
    ids.giveUp()
    await new Promise(setImmediate)
    expect(() => ids.take()).toThrow(outOfTaskIds)
    await ids.refill(1)
    expect(ids.take()).toBe('bg_100')
  })
})
