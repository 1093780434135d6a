import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canBecome, isTerminal, statuses } from '../../../src/core/status.ts'

describe('status', () => {
  it('LIFE-01 pending and running are live, completed, failed and cancelled are terminal, and there are no others', () => {
    expect(statuses).toEqual(['pending', 'running', 'completed', 'failed', 'cancelled'])
    expect(statuses.filter((status) => isTerminal(status))).toEqual(['completed', 'failed', 'cancelled'])
  })

  it.each([
    ['pending', ['running', 'failed', 'cancelled']],
    ['running', ['completed', 'failed', 'cancelled']],
    ['completed', []],
    ['failed', []],
    ['cancelled', []],
  ] as const)('%s can become %j', (from, expected) => {
    expect(statuses.filter((to) => canBecome(from, to))).toEqual(expected)
  })

  it('never goes back, however it changes', () => {
    const any = fc.constantFrom(...statuses)
    fc.assert(
      fc.property(any, fc.array(any, { maxLength: 10 }), (first, wishes) => {
        let status = first
        let changes = 0
        for (const wish of wishes) {
          if (!canBecome(status, wish)) continue
          expect(isTerminal(status)).toBe(false)
          expect(wish).not.toBe('pending')
          status = wish
          changes += 1
        }
        expect(changes).toBeLessThanOrEqual(2)
      }),
    )
  })
})
