import { describe, expect, it } from 'vitest'
import { age, duration } from '../../../../src/cli/show/ages.ts'

describe('an age', () => {
  it.each([
    [-5000, '0s'],
    [0, '0s'],
    [999, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [3_599_999, '59m'],
    [3_600_000, '1h'],
    [86_399_999, '23h'],
    [86_400_000, '1d'],
    [40 * 86_400_000, '40d'],
  ])('of %i ms is %s', (ms, text) => {
    expect(age(ms)).toBe(text)
  })
})

describe('a duration', () => {
  it.each([
    [-1, '0.0s'],
    [340, '0.3s'],
    [9999, '10.0s'],
    [10_000, '10s'],
    [90_000, '1m'],
  ])('of %i ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})
