import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Unit } from '../../../src/core/unit.ts'
import type { Store } from '../../../src/stores/store.ts'
import { commit, deltas, home, logOf, numbersOf, unit } from '../../../src/testing/store-suite/builders.ts'
import { type StoreRow, storeFixture, storeTable } from './store-table.ts'

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('trim' as const), count: fc.nat({ max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), count: fc.constant(0) }) },
)

/** Batches of what is done together. */
const histories = fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 20 })
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never

/** Does one batch after the other, and after each looks at what is kept. */
async function follow(store: Store, history: readonly Action[][]): Promise<void> {
  let [first, head, rev] = [1, 0, 0]
  for (const actions of history) {
    let lowest = first
    const units = actions.map((each): Unit => {
      if (each.do === 'append') return unit({ events: deltas(each.count) })
      if (each.do === 'trim') return unit({ operation: 'trim', trim: each.count })
      return unit({ operation: 'erase', rev: rev++, erase: true })
    })
    const verdicts = await commit(store, ...units)
    for (const [n, { first: next, removed }] of verdicts.entries()) {
      const { do: done, count = 0 } = actions[n] ?? {}
      expect(next).toBe(head + 1)
      if (done === 'append') head += count
      else lowest += removed?.events ?? Number.NaN
      if (done === 'trim') expect(lowest).toBeLessThanOrEqual(Math.max(lowest - (removed?.events ?? 0), count + 1))
      if (done === 'erase') expect(lowest).toBe(head + 1)
    }
    expect(lowest).toBeGreaterThanOrEqual(first)
    first = lowest
    const page = await store.events(home, { after: 0, limit: 1 })
    expect([page.first, page.head]).toEqual([first, head])
    const kept = Array.from({ length: head - first + 1 }, (_, n) => first + n)
    expect(numbersOf(await logOf(store, home, 3))).toEqual(kept)
  }
}

async function check(row: StoreRow, history: readonly Action[][]): Promise<void> {
  const fixture = storeFixture(row)
  try {
    await follow(await fixture.open(), history)
  } finally {
    await fixture.dispose()
  }
}

describe.each(storeTable)('the log of the $name store, whatever is trimmed', (row) => {
  it('has no hole, loses nothing above the number named, and begins where the verdicts say', async () => {
    const property = fc.asyncProperty(histories, (history) => check(row, history))
    await fc.assert(property, { numRuns: row.isDurable ? 25 : 300 })
  })
})
