import { describe, expect, it } from 'vitest'
import type { Unit } from '../../../src/core/unit.ts'
import { type Committer, CostRule } from '../../../src/stores/sqlite/committer-rule.ts'
import { LineBytes } from '../../../src/stores/sqlite/line-bytes.ts'
import { type PackedBatch, packBatch } from '../../../src/stores/sqlite/packed-batch.ts'
import {
  added,
  changed,
  deltas,
  ids,
  mailTo,
  pending,
  question,
  step,
  unit,
  upTo,
} from '../../../src/testing/store-suite/builders.ts'

const long = 'x'.repeat(70_000)

function packed(...units: Unit[]): PackedBatch {
  return packBatch(units, new LineBytes())
}

const decided = packed(unit({ rev: 0, events: deltas(1) }))
const emits = packed(unit({ events: deltas(3) }))

/** The rule at a time that is moved by hand, on a disk that has shown how long a commit takes. */
class Ruled {
  readonly #rule: CostRule
  now = 0

  constructor(commitMs: number) {
    this.#rule = new CostRule(() => this.now)
    this.committed(50, 'writer', commitMs)
  }

  committed(count: number, by: Committer, commitMs: number, batch = decided): void {
    for (let n = 0; n < count; n++) this.#rule.committed(by, batch, commitMs)
  }

  logMoved(): void {
    this.#rule.logMoved()
  }

  heldUp(ms: number): void {
    this.#rule.heldUp(ms)
  }

  choose(batch = decided): Committer {
    return this.#rule.choose(batch)
  }
}

describe('a batch is committed', () => {
  it('by the writer as long as nothing is known of the disk', () => {
    expect(new CostRule(() => 0).choose(decided)).toBe('writer')
  })

  it.each([
    [0.3, 'quick'],
    [0.9, 'quick'],
    [1.1, 'writer'],
    [40, 'writer'],
  ] as const)('by whom it is best where a commit takes %d ms: %s', (commitMs, committer) => {
    expect(new Ruled(commitMs).choose()).toBe(committer)
  })

  it('by the quick writer again when a slow disk has become quick, as the writer finds', () => {
    const ruled = new Ruled(40)
    ruled.committed(50, 'writer', 0.2)
    expect(ruled.choose()).toBe('quick')
  })

  it('by the quick writer though large ones take long, which are never its own', () => {
    const ruled = new Ruled(0.2)
    ruled.committed(50, 'writer', 30, packed(unit({ rev: 0, events: deltas(3_000) })))
    expect(ruled.choose()).toBe('quick')
  })

  it.each<[string, Partial<Unit>]>([
    ['many events', { events: deltas(3_000) }],
    ['a long input', { tasks: [added(pending('bg_0', { input: long }))] }],
    ['long metadata', { tasks: [added(pending('bg_0', { metadata: long }))] }],
    ['a long step', { steps: [step('bg_0', 'step', { value: long })] }],
    ['a long message', { messages: [{ id: 'msg_0', role: 'user', parts: long, event: 0 }] }],
    ['long mail', { mail: [mailTo('bg_0', 'mail_0', { content: long })] }],
    ['a long question', { questions: [{ record: { ...question('bg_0', 'q_0'), text: long }, isNew: true }] }],
    ['an erase', { erase: true }],
    ['an erase of tasks', { eraseTasks: 1 }],
    ['a trim', { trim: 1 }],
  ])('by the writer if %s is in it', (_, fields) => {
    expect(new Ruled(0.2).choose(packed(unit({ rev: 0, ...fields })))).toBe('writer')
  })

  it('by the writer if it is empty and asks whether the store is there', () => {
    expect(new Ruled(0.2).choose(packed())).toBe('writer')
  })

  it('by the writer for twenty times as long as the quick one had the thread, and then by the quick one', () => {
    const ruled = new Ruled(0.2)
    ruled.heldUp(3)
    expect(ruled.choose()).toBe('quick')
    ruled.heldUp(50)
    ruled.now = 999
    expect(ruled.choose()).toBe('writer')
    ruled.now = 1_000
    expect(ruled.choose()).toBe('quick')
  })

  it('by the writer if it holds only emits, as one a moment before did', () => {
    const ruled = new Ruled(0.2)
    ruled.now = 100
    expect([ruled.choose(emits), ruled.choose(emits)]).toEqual(['quick', 'quick'])
    ruled.committed(1, 'quick', 0.2, emits)
    ruled.now = 103
    expect([ruled.choose(emits), ruled.choose(decided)]).toEqual(['writer', 'quick'])
    ruled.now = 104
    expect(ruled.choose(emits)).toBe('quick')
  })

  it('by the writer if it holds only emits that have gathered, however long ago the last were', () => {
    const ruled = new Ruled(0.2)
    ruled.now = 1_000
    const few = packed(unit({ events: deltas(4) }), unit({ events: deltas(4) }))
    const many = packed(unit({ events: deltas(4) }), unit({ events: deltas(5) }))
    const decidedMany = packed(unit({ rev: 0, events: deltas(9) }))
    expect([few, many, decidedMany].map((batch) => ruled.choose(batch))).toEqual(['quick', 'writer', 'quick'])
  })

  it.each([
    ['the first of 16 threads', 'quick', 16, { rev: 0 }],
    ['the next of 10 threads', 'quick', 10, { rev: 1 }],
    ['the next of 16 threads', 'writer', 16, { rev: 1 }],
    ['results that are taken', 'writer', 1, { rev: 1, take: ids(...upTo(20).map((n) => `bg_${n}`)) }],
    ['many tasks of a thread', 'writer', 1, { rev: 1, tasks: upTo(20).map((n) => changed(pending(`bg_${n}`))) }],
  ] as const)('by how many rows it changes, wherever they are: %s by the %s', (_what, committer, count, fields) => {
    expect(new Ruled(0.2).choose(packed(...upTo(count).map(() => unit(fields))))).toBe(committer)
  })

  it('by the writer when half of a checkpoint may be in the log, until all of that was moved', () => {
    const ruled = new Ruled(0.2)
    let count = 0
    while (ruled.choose() === 'quick') {
      ruled.committed(1, 'quick', 0.2)
      count += 1
    }
    // Some fifteen pages each.
    expect(count).toBe(33)
    ruled.committed(1, 'writer', 0.2)
    expect(ruled.choose()).toBe('writer')
    ruled.logMoved()
    expect(ruled.choose()).toBe('quick')
  })
})
