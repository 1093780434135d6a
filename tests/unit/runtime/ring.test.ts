import { describe, expect, it } from 'vitest'
import { principal, threadId, threadKey } from '../../../src/core/id.ts'
import { LoggedEvent } from '../../../src/runtime/log-entry.ts'
import { Ring } from '../../../src/runtime/ring.ts'
import type { EventPage } from '../../../src/stores/store.ts'

const key = threadKey(principal('owner'), threadId('t'))

function stored(first: number, last: number, data = '{"text":"x"}'): EventPage['events'] {
  return Array.from({ length: last - first + 1 }, (_each, n) => ({ type: 'text.delta', seq: first + n, at: 1, data }))
}

function events(first: number, last: number, data?: string): LoggedEvent[] {
  return stored(first, last, data).map((event) => new LoggedEvent(key, event))
}

function ringOf(...stretches: [first: number, last: number][]): Ring {
  const ring = new Ring(key)
  for (const [first, last] of stretches) ring.append(events(first, last))
  return ring
}

/** All that the ring has after a number, batch by batch. */
function numbersAfter(ring: Ring, seq: number): number[] | undefined {
  const numbers: number[] = []
  for (let after = seq; ; after = numbers.at(-1) ?? after) {
    const batch = ring.batchAfter(after)
    if (!batch) return numbers.length > 0 ? numbers : undefined
    numbers.push(...batch.map((entry) => entry.seq))
  }
}

describe('the ring of a thread', () => {
  it('is not gone because two read its first page at the same time', () => {
    const ring = new Ring(key)
    const page: EventPage = { events: stored(1, 3), first: 1, head: 3, upTo: 3 }
    expect(ring.isGone(page)).toBe(false)
    expect(ring.isGone(page)).toBe(false)
    ring.advance(3)
    expect(ring.isGone({ ...page, events: [], first: 4 })).toBe(true)
  })

  it('is not gone because a page was read before its first event', () => {
    const ring = new Ring(key)
    ring.append(events(1, 2))
    expect(ring.isGone({ events: [], first: 1, head: 0, upTo: 0 })).toBe(false)
    expect(ring.isGone({ events: [], first: 3, head: 2, upTo: 2 })).toBe(true)
  })

  it('gives what follows a number, if it has all of it', () => {
    const ring = ringOf([5, 6], [7, 8])
    expect(numbersAfter(ring, 4)).toEqual([5, 6, 7, 8])
    expect(numbersAfter(ring, 7)).toEqual([8])
    expect(numbersAfter(ring, 3)).toBeUndefined()
    expect(numbersAfter(ring, 8)).toBeUndefined()
    expect(numbersAfter(ring, 9)).toBeUndefined()
    expect(numbersAfter(new Ring(key), 0)).toBeUndefined()
  })

  it('R6 keeps what one of those who watch has not been given, and lets go of what all have', () => {
    const ring = ringOf([1, 3])
    ring.advance(3)
    const [quick, slow] = [{ wake: () => {} }, { wake: () => {} }]
    ring.join()
    ring.join()
    ring.wait(quick)
    expect(numbersAfter(ring, 0)).toEqual([1, 2, 3])
    ring.wait(slow)
    expect([ring.head, numbersAfter(ring, 0)]).toEqual([3, undefined])
    ring.append(events(4, 5))
    expect(numbersAfter(ring, 3)).toEqual([4, 5])
    ring.wait(quick)
    expect(numbersAfter(ring, 3)).toEqual([4, 5])
    ring.leave(slow)
    expect([ring.head, ring.isCurrent, numbersAfter(ring, 3)]).toEqual([5, true, undefined])
  })

  it('keeps what was made of a few batches, however many places there are to begin at', () => {
    const ring = new Ring(key)
    const entries = events(1, 1000)
    ring.join()
    ring.append(entries)
    for (let after = 0; after < 100; after++) {
      const batch = ring.batchAfter(after) ?? []
      const [first] = batch
      if (first) first.made = { maker: ring, batch, value: after, before: undefined }
    }
    const kept = entries.flatMap(({ made }) => made?.value ?? [])
    expect([kept.includes(99), kept.length <= 4]).toEqual([true, true])
    ring.append(events(1001, 1001))
    expect(entries.some(({ made }) => made)).toBe(false)
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

  it('takes what somebody else wrote if it follows on all there is, and is no less sure of it', () => {
    const ring = ringOf([1, 3])
    ring.advance(3)
    ring.follow(events(4, 5))
    expect([ring.isCurrent, numbersAfter(ring, 2)]).toEqual([true, [3, 4, 5]])
    ring.follow(events(4, 5))
    expect([ring.isCurrent, numbersAfter(ring, 2)]).toEqual([true, [3, 4, 5]])
  })

  it.each([
    ['after a hole', 5, 5],
    ['that begins with what it has', 3, 4],
  ])('has watchers look into the store for what somebody else wrote %s', (_case, first, last) => {
    const ring = ringOf([1, 3])
    ring.advance(3)
    ring.follow(events(first, last))
    expect([ring.isCurrent, ring.head, numbersAfter(ring, 2)]).toEqual([false, 3, [3]])
  })

  it('does not take what somebody else wrote for all there is while it is not sure of its head', () => {
    const ring = ringOf([1, 3])
    ring.follow(events(4, 4))
    expect([ring.isCurrent, ring.head]).toEqual([false, 3])
  })

  it('keeps the last 4096 events, whatever the number of those that came', () => {
    const ring = ringOf([1, 4096])
    expect(numbersAfter(ring, 0)).toHaveLength(4096)
    for (let seq = 4097; seq <= 10_000; seq += 1) ring.append(events(seq, seq))
    expect(numbersAfter(ring, 10_000 - 4097)).toBeUndefined()
    expect(numbersAfter(ring, 10_000 - 4096)).toEqual(events(10_000 - 4095, 10_000).map(({ seq }) => seq))
  })

  it('keeps at most one mebibyte of text', () => {
    const ring = new Ring(key)
    const nearlyQuarter = 'x'.repeat(255 * 1024)
    for (let seq = 1; seq <= 9; seq += 1) ring.append(events(seq, seq, nearlyQuarter))
    expect(numbersAfter(ring, 4)).toBeUndefined()
    expect(numbersAfter(ring, 5)).toEqual([6, 7, 8, 9])
  })

  it('gives batches of at most 256 KiB of text, or of one event', () => {
    const ring = new Ring(key)
    ring.append([...events(1, 5, 'x'.repeat(100_000)), ...events(6, 6, 'x'.repeat(300_000)), ...events(7, 8)])
    const sizes: number[] = []
    for (let after = 0; after < 8; after += sizes.at(-1) ?? 8) sizes.push(ring.batchAfter(after)?.length ?? 0)
    expect(sizes).toEqual([2, 2, 1, 1, 2])
  })

  it('gives the same array to all who ask for the same place until something is appended', () => {
    const ring = ringOf([1, 6])
    const batch = ring.batchAfter(2)
    expect(ring.batchAfter(4)).toHaveLength(2)
    expect(ring.batchAfter(2)).toBe(batch)
    ring.append(events(7, 7))
    expect(ring.batchAfter(2)).toHaveLength(5)
  })

  it('encodes and parses an event once for all', () => {
    const [entry] = events(1, 1)
    expect(entry?.text).toBe('{"thread":"t","seq":1,"type":"text.delta","at":1,"data":{"text":"x"}}')
    expect(entry?.event).toBe(entry?.event)
  })

  it('wakes those who wait, once, at every change until they leave', () => {
    const ring = new Ring(key)
    let wakeCount = 0
    const watcher = { wake: () => (wakeCount += 1) }
    ring.join()
    const changes = [
      () => ring.append(events(1, 2)),
      () => ring.advance(3),
      () => ring.hint(),
      () => ring.append(events(4, 4)),
      () => ring.end(),
    ]
    for (const change of changes) {
      ring.wait(watcher)
      change()
      change()
    }
    expect([wakeCount, ring.watcherCount]).toEqual([changes.length, 1])
    ring.wait(watcher)
    ring.leave(watcher)
    ring.hint()
    expect([wakeCount, ring.watcherCount]).toEqual([changes.length, 0])
  })

  it('is not current after a read that was begun before a hint', () => {
    const ring = ringOf([1, 3])
    const { hintCount } = ring
    ring.hint()
    ring.advance(3, hintCount)
    expect(ring.isCurrent).toBe(false)
    ring.advance(3)
    expect(ring.isCurrent).toBe(true)
  })

  it('reads what another node wrote once for all who wait for it', async () => {
    const ring = ringOf([1, 3])
    const asked: number[] = []
    const read = (after: number): Promise<EventPage> => {
      asked.push(after)
      return Promise.resolve({ head: 6, first: 1, events: stored(4, 6), upTo: 6 })
    }
    await Promise.all([ring.refresh(read), ring.refresh(read)])
    expect([asked, ring.isCurrent, numbersAfter(ring, 2)]).toEqual([[3], true, [3, 4, 5, 6]])
    ring.hint()
    await ring.refresh((after) =>
      Promise.resolve({ head: 9, first: 9, events: stored(9, 9), upTo: Math.max(after, 9) }),
    )
    expect([ring.head, numbersAfter(ring, 6)]).toEqual([9, undefined])
  })
})
