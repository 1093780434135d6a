import { describe, expect, it } from 'vitest'
import type { Unit } from '../../../src/core/unit.ts'
import { type Place, SmallAndQuick } from '../../../src/stores/sqlite/commit-place.ts'
import { LineBytes } from '../../../src/stores/sqlite/line-bytes.ts'
import { type PackedBatch, packBatch } from '../../../src/stores/sqlite/packed-batch.ts'
import { added, deltas, pending, unit } from '../../../src/testing/store-suite/builders.ts'

function packed(...units: Unit[]): PackedBatch {
  return packBatch(units, new LineBytes())
}

const decided = packed(unit({ rev: 0, events: deltas(1) }))
const emits = packed(unit({ events: deltas(3) }))

/** The rule at a time that is moved by hand, on a disk that has shown how long it takes. */
class Ruled {
  readonly #rule: SmallAndQuick
  now = 0

  constructor(commitMs: number) {
    this.#rule = new SmallAndQuick(() => this.now)
    this.commits(50, 'thread', commitMs)
  }

  commits(count: number, place: Place, commitMs: number, batch = decided): void {
    for (let n = 0; n < count; n++) this.#rule.took(place, batch, commitMs)
  }

  choose(batch = decided): Place {
    return this.#rule.choose(batch)
  }
}

describe('a batch is committed', () => {
  it('on the thread as long as nothing is known of the disk', () => {
    expect(new SmallAndQuick(() => 0).choose(decided)).toBe('thread')
  })

  it.each([
    [0.3, 'here'],
    [1.2, 'thread'],
    [40, 'thread'],
  ] as const)('where a commit takes %d ms: %s', (commitMs, place) => {
    expect(new Ruled(commitMs).choose()).toBe(place)
  })

  it('here again when a slow disk has become quick, as the thread finds', () => {
    const ruled = new Ruled(40)
    ruled.commits(50, 'thread', 0.2)
    expect(ruled.choose()).toBe('here')
  })

  it.each<[string, PackedBatch]>([
    ['what is large', packed(unit({ rev: 0, events: deltas(3_000) }))],
    ['a task with a large input', packed(unit({ tasks: [added(pending('bg_0', { input: 'x'.repeat(70_000) }))] }))],
    ['an erase', packed(unit({ rev: 0, events: deltas(1), erase: true }))],
    ['nothing, which asks whether the store is there', packed()],
  ])('on the thread if it is %s', (_, batch) => {
    expect(new Ruled(0.2).choose(batch)).toBe('thread')
  })

  it('on the thread for twenty times as long as a commit here stood still, and then here', () => {
    const ruled = new Ruled(0.2)
    ruled.commits(1, 'here', 50)
    ruled.now = 999
    expect(ruled.choose()).toBe('thread')
    ruled.now = 1_000
    expect(ruled.choose()).toBe('here')
  })

  it('on the thread if it holds only emits, as others did a moment before', () => {
    const ruled = new Ruled(0.2)
    ruled.now = 100
    expect(ruled.choose(emits)).toBe('here')
    ruled.now = 103
    expect([ruled.choose(emits), ruled.choose(decided)]).toEqual(['thread', 'here'])
    ruled.now = 107
    expect(ruled.choose(emits)).toBe('here')
  })

  it('on the thread when the log may be due, and after that here', () => {
    const ruled = new Ruled(0.2)
    let count = 0
    while (ruled.choose() === 'here') {
      ruled.commits(1, 'here', 0.2)
      count += 1
    }
    expect(count).toBeGreaterThan(50)
    expect(count).toBeLessThan(500)
    ruled.commits(1, 'thread', 0.2)
    expect(ruled.choose()).toBe('here')
  })
})
