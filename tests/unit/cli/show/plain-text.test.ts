import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonText } from '../../../../src/cli/show/json-text.ts'
import { oneLine, plainText } from '../../../../src/cli/show/plain-text.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must never be left.
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe('text of others', () => {
  it('keeps lines and tabs, and tells a terminal nothing', () => {
    expect(plainText('a\r\n\tb\u001b[2J\u001b]0;title\u0007c\u0008\u202ed')).toBe('a\n\tbcd')
  })

  it('is on one line if it has to be, with its own spaces', () => {
    expect(oneLine('  a\n\nb\r\u2029 c\n')).toBe('  a b  c')
  })

  it('has no control character left, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainText(text)).not.toMatch(control)
        expect(oneLine(text)).not.toMatch(control)
        expect(oneLine(text)).not.toMatch(/[\n\t\u2028\u2029]/)
      }),
    )
  })

  it('turns no direction of writing around as JSON', () => {
    expect(jsonText('a\u202eb\u2066c\u200fd\u061ce')).toBe('"a\\u202eb\\u2066c\\u200fd\\u061ce"')
  })

  it('is the same text as JSON, and has no control character there either', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(jsonText({ text }))).toEqual({ text })
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what must never be left.
        expect(jsonText({ text })).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
      }),
    )
  })
})
