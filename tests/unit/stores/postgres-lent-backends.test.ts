import { describe, expect, it } from 'vitest'
import { areLent } from '../../../src/stores/postgres/lent-backends.ts'

/** A look at the process that a pool lends for a moment. */
function lending(count: number, next: (idle: number[]) => number | undefined): () => Promise<number> {
  const idle = Array.from({ length: count }, (_, n) => n + 1)
  return async () => {
    const pid = next(idle) ?? 0
    idle.push(pid)
    return pid
  }
}

describe('connections that a pooler lends anew with every transaction', () => {
  it.each([1, 2, 3, 20])('are seen in a pool of %i, whichever it lends next', async (count) => {
    const last = lending(count, (idle) => idle.pop())
    const first = lending(count, (idle) => idle.shift())
    expect([await areLent(last, last), await areLent(first, first)]).toEqual([true, true])
  })

  it('are not seen where each has a process to itself', async () => {
    expect(
      await areLent(
        async () => 1,
        async () => 2,
      ),
    ).toBe(false)
  })
})
