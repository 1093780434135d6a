import { describe, expect, it } from 'vitest'
import { parseOffset } from '../../../src/protocol/offset.ts'

describe('parseOffset', () => {
  it.each([
    ['0', 0],
    ['17', 17],
    ['007', 7],
    ['00000000000000000000', 0],
    ['000000000000000000002', 2],
    ['9007199254740991', 2 ** 53 - 1],
  ])('takes %s', (text, offset) => {
    expect(parseOffset(text)).toBe(offset)
  })

  it.each([
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    '1,1',
    '9007199254740992',
    '9'.repeat(40),
    'NaN',
    '١',
    '1\n',
  ])('refuses %j', (text) => {
    expect(() => parseOffset(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})
