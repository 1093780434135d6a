import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth } from '../../../../src/cli/show/display-width.ts'
import { wrap } from '../../../../src/cli/show/wrap.ts'

describe('a long line', () => {
  it.each([
    ['fits', 'one two', 7, ['one two']],
    ['is broken between words', 'one two three', 8, ['one two', 'three']],
    ['is broken at a space that does not fit any more', 'one two three', 7, ['one two', 'three']],
    ['is cut where a break would waste the row', 'a bcdefghij', 6, ['a bcde', 'fghij']],
    ['has characters that take two columns', '海藻海藻海', 5, ['海藻', '海藻', '海']],
    ['has a character that is too wide for any row', '海藻', 1, ['海', '藻']],
    ['has no columns to go to', 'one two', 0, ['one two']],
    ['is empty', '', 3, ['']],
  ])('%s', (_title, line, columns, rows) => {
    expect(wrap(line, columns)).toEqual(rows)
  })

  it('loses nothing but the spaces it is broken at, and has no row that is too wide', () => {
    const pieces = fc.constantFrom('a', 'bc', ' ', '海', '👩‍👧', 'é', 'longer')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), fc.integer({ min: 2, max: 12 }), (parts, columns) => {
        const line = parts.join('')
        const rows = wrap(line, columns)
        for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(columns)
        expect(rows.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''))
      }),
    )
  })
})
