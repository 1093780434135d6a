import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Lanes } from '../../../src/runtime/lanes.ts'

interface Item {
  readonly lane: string
  readonly n: number
  bytes: number
}

function fill(items: readonly Item[]): Lanes<Item> {
  const lanes = new Lanes<Item>()
  for (const item of items) lanes.push(item.lane, item)
  return lanes
}

function drainOnce(lanes: Lanes<Item>): Item[] {
  const taken: Item[] = []
  lanes.drain((item) => {
    taken.push(item)
    return 'taken'
  })
  return taken
}

function drainAll(lanes: Lanes<Item>): Item[] {
  const taken: Item[] = []
  while (!lanes.isEmpty) taken.push(...drainOnce(lanes))
  return taken
}

const items = fc.array(
  fc.record({ lane: fc.constantFrom('a', 'b', 'c'), n: fc.nat(), bytes: fc.constantFrom(10, 20_000, 40_000) }),
)

describe('lanes', () => {
  it('keep the order within a lane and lose nothing, however large the entries are', () => {
    fc.assert(
      fc.property(items, (given) => {
        const taken = drainAll(fill(given))
        expect(taken).toHaveLength(given.length)
        for (const lane of ['a', 'b', 'c']) {
          const inLane = (item: Item) => item.lane === lane
          expect(taken.filter(inLane)).toEqual(given.filter(inLane))
        }
      }),
    )
  })

  it('let a lane with little pass after one turn of a lane with much', () => {
    const flood = Array.from({ length: 1000 }, (_, n) => ({ lane: 'flood', n, bytes: 1000 }))
    const taken = drainAll(fill([...flood, { lane: 'calm', n: 0, bytes: 10 }]))
    expect(taken.findIndex((item) => item.lane === 'calm')).toBeLessThan(40)
  })

  it('give a lane with much one turn of a batch, and twice as much in each that follows while it is alone', () => {
    const flood = Array.from({ length: 1000 }, (_, n) => ({ lane: 'flood', n, bytes: 1000 }))
    const lanes = fill(flood)
    const turn = () => drainOnce(lanes).filter(({ lane }) => lane === 'flood').length
    expect([turn(), turn(), turn()]).toEqual([33, 66, 132])
    lanes.push('calm', { lane: 'calm', n: 0, bytes: 10 })
    expect(turn()).toBe(33)
    expect([turn(), turn(), turn()]).toEqual([33, 66, 132])
  })

  it('give a lane that is alone no more than 384 KiB of a batch', () => {
    const lanes = fill(Array.from({ length: 2000 }, (_, n) => ({ lane: 'flood', n, bytes: 1000 })))
    const turns = Array.from({ length: 6 }, () => drainOnce(lanes).length)
    expect(turns.slice(-2)).toEqual([394, 394])
  })

  it('weigh what waits in them, whatever is put in, grown, put back or taken out', () => {
    const lanes = fill([
      { lane: 'a', n: 1, bytes: 10 },
      { lane: 'b', n: 2, bytes: 100 },
    ])
    const last = lanes.last('b')
    if (last) lanes.grow(last, 1000)
    expect(lanes.bytes).toBe(1110)
    lanes.takeLast('b', () => true)
    expect(lanes.bytes).toBe(10)
    lanes.putBack('a', [{ lane: 'a', n: 0, bytes: 5 }])
    expect(lanes.bytes).toBe(15)
    drainAll(lanes)
    expect(lanes.bytes).toBe(0)
  })

  it('go on with other lanes when one is blocked, and keep what is in it', () => {
    const lanes = fill([
      { lane: 'a', n: 1, bytes: 10 },
      { lane: 'b', n: 2, bytes: 10 },
      { lane: 'a', n: 3, bytes: 10 },
    ])
    const taken: number[] = []
    lanes.drain((item) => {
      if (item.lane === 'a') return 'blocked'
      taken.push(item.n)
      return 'taken'
    })
    expect(taken).toEqual([2])
    expect(drainAll(lanes).map((item) => item.n)).toEqual([1, 3])
    expect(lanes.isEmpty).toBe(true)
  })

  it('begin the next batch with the lanes that had no turn in this one', () => {
    const lanes = fill(['a', 'b', 'c'].map((lane, n) => ({ lane, n, bytes: 10 })))
    lanes.push('a', { lane: 'a', n: 9, bytes: 10 })
    let room = 1
    lanes.drain(() => (room-- > 0 ? 'taken' : 'full'))
    expect(drainAll(lanes).map((item) => item.lane)).toEqual(['b', 'c', 'a'])
  })

  it('put entries back ahead of what came after them', () => {
    const lanes = fill([{ lane: 'a', n: 3, bytes: 10 }])
    lanes.putBack('a', [
      { lane: 'a', n: 1, bytes: 10 },
      { lane: 'a', n: 2, bytes: 10 },
    ])
    expect(drainAll(lanes).map((item) => item.n)).toEqual([1, 2, 3])
  })
})
