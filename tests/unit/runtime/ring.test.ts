import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../src/core/event.ts'
import { principal, threadId, threadKey } from '../../../src/core/id.ts'
import { Ring } from '../../../src/runtime/ring.ts'

const key = threadKey(principal('owner'), threadId('t'))

function events(first: number, last: number, data = '{"text":"x"}'): StoredEvent[] {
  return Array.from({ length: last - first + 1 }, (_each, n) => ({ type: 'text.delta', seq: first + n, at: 1, data }))
}

function ringOf(...stretches: [first: number, last: number][]): Ring {
  const ring = new Ring(key)
  for (const [first, last] of stretches) ring.append(events(first, last))
  return ring
}

function numbersAfter(ring: Ring, seq: number): number[] | undefined {
  return ring.after(seq)?.map((entry) => entry.stored.seq)
}

describe('the ring of a thread', () => {
  it('gives what follows a number, if it has all of it', () => {
    const ring = ringOf([5, 6], [7, 8])
    expect(numbersAfter(ring, 4)).toEqual([5, 6, 7, 8])
    expect(numbersAfter(ring, 7)).toEqual([8])
    expect(numbersAfter(ring, 3)).toBeUndefined()
    expect(numbersAfter(ring, 8)).toBeUndefined()
    expect(numbersAfter(ring, 9)).toBeUndefined()
    expect(numbersAfter(new Ring(key), 0)).toBeUndefined()
  })

  it('begins anew after a hole, and takes no event twice', () => {
    const ring = ringOf([1, 3], [7, 8], [7, 8])
    expect(ring.head).toBe(8)
    expect(numbersAfter(ring, 2)).toBeUndefined()
    expect(numbersAfter(ring, 6)).toEqual([7, 8])
  })

  it('begins anew where the store is ahead of it', () => {
    const ring = ringOf([1, 3])
    expect(ring.isCurrent).toBe(false)
    ring.advance(3)
    expect([ring.isCurrent, numbersAfter(ring, 1)]).toEqual([true, [2, 3]])
    ring.advance(6)
    expect([ring.head, numbersAfter(ring, 1), numbersAfter(ring, 5)]).toEqual([6, undefined, undefined])
    ring.append(events(7, 7))
    expect(numbersAfter(ring, 6)).toEqual([7])
  })

  it('keeps the last 4096 events, whatever the number of those that came', () => {
    const ring = ringOf([1, 4096])
    expect(numbersAfter(ring, 0)).toHaveLength(4096)
    for (let seq = 4097; seq <= 10_000; seq += 1) ring.append(events(seq, seq))
    expect(numbersAfter(ring, 10_000 - 4097)).toBeUndefined()
    expect(numbersAfter(ring, 10_000 - 4096)).toEqual(events(10_000 - 4095, 10_000).map(({ seq }) => seq))
  })

  it('keeps at most one mebibyte of data', () => {
    const ring = new Ring(key)
    const quarter = 'x'.repeat(256 * 1024)
    for (let seq = 1; seq <= 9; seq += 1) ring.append(events(seq, seq, quarter))
    expect(numbersAfter(ring, 4)).toBeUndefined()
    expect(numbersAfter(ring, 5)).toEqual([6, 7, 8, 9])
  })

  it('tells its watchers of every change until they leave', () => {
    const ring = new Ring(key)
    let count = 0
    const leave = ring.watch(() => {
      count += 1
    })
    ring.append(events(1, 2))
    ring.advance(2)
    ring.advance(3)
    ring.hint()
    expect([count, ring.isCurrent, ring.watcherCount]).toEqual([3, false, 1])
    leave()
    ring.append(events(4, 4))
    expect([count, ring.watcherCount]).toEqual([3, 0])
  })
})
