import { describe, expect, it } from 'vitest'
import { durationFlag, wholeNumberFlag, wordsFlag } from '../../../src/cli/flag-value.ts'

describe('a flag', () => {
  it.each([
    ['5', 5000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
  ])('takes %s as a time', (text, ms) => {
    expect(durationFlag(text)).toBe(ms)
  })

  it.each(['', '-1', '5 s', 'soon', '1w', '9'.repeat(20)])('does not take %j as a time', (text) => {
    expect(() => durationFlag(text)).toThrow('It is no time such as')
  })

  it.each(['0', '0s', '0ms', '0.1ms'])('does not take %j as a time, and says that it is too short', (text) => {
    expect(() => durationFlag(text)).toThrow('It is less than 1ms, and 0 is not allowed.')
  })

  it('takes whole numbers of its range', () => {
    expect(wholeNumberFlag(1, 10)('10')).toBe(10)
    for (const text of ['0', '11', '1.5', '0x1', '', '-1']) {
      expect(() => wholeNumberFlag(1, 10)(text)).toThrow('It is not a whole number from 1 to 10.')
    }
  })

  it('takes lists of words, which add up', () => {
    const words = wordsFlag(['one', 'two', 'three'])
    expect(words('two, one')).toEqual(['two', 'one'])
    expect(words('three', ['one'])).toEqual(['one', 'three'])
    expect(() => words('one,for')).toThrow('"for" is not one of one, two, three.')
  })
})
