import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cut, displayWidth, pad } from '../../../../src/cli/show/display-width.ts'
import { aligned, type Column, tabbed } from '../../../../src/cli/show/table.ts'

const same = (text: string): string => text

describe('the width of a text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['海藻', 4],
    ['ｆｕｌｌ', 8],
    ['한국어', 6],
    ['🌿', 2],
    ['👩‍👩‍👧', 2],
    ['❤️', 2],
    ['🇩🇪', 2],
    ['e\u0301', 1],
    ['a\u200bb', 2],
    ['● …', 3],
  ])('%j takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })

  it('is never more than what a text is cut to, and nothing that fits is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
        expect(displayWidth(cut(text, columns))).toBeLessThanOrEqual(columns)
        if (displayWidth(text) <= columns) expect(cut(text, columns)).toBe(text)
        expect(displayWidth(pad(cut(text, columns), columns))).toBe(columns)
      }),
    )
  })

  it('cuts no character in half', () => {
    expect(cut('海藻海藻', 4)).toBe('海…')
    expect(cut('a👩‍👩‍👧b', 3)).toBe('a…')
    expect(cut('abc', 1)).toBe('…')
    expect(cut('abc', 0)).toBe('')
  })
})

interface Row {
  readonly id: string
  readonly note: string
  readonly name?: string
}

const columns: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name = '' }) => name, hides: true },
  { title: 'NOTE', value: ({ note }) => note, shown: ({ note }) => `* ${note}`, shrinks: true },
]

describe('a table', () => {
  const rows: readonly Row[] = [
    { id: 'bg_1', note: 'short' },
    { id: 'bg_10', note: '海藻 that is rather long' },
  ]

  it('is aligned and no wider than the terminal', () => {
    expect(aligned(columns, rows, 80, same)).toBe('ID     NOTE\nbg_1   * short\nbg_10  * 海藻 that is rather long\n')
    expect(aligned(columns, rows, 20, same)).toBe('ID     NOTE\nbg_1   * short\nbg_10  * 海藻 that …\n')
  })

  it('has any number of rows', () => {
    const many = Array.from({ length: 150_000 }, () => ({ id: 'a', note: 'b' }))
    expect(aligned(columns, many, 80, same)).toHaveLength('ID  NOTE\n'.length + many.length * 'a   * b\n'.length)
  })

  it('keeps the columns whole that do not give way, however wide they are', () => {
    const wide = [{ id: 'bg_12345678901234', note: 'a note that is rather long' }]
    expect(aligned(columns, wide, 30, same)).toBe('ID                 NOTE\nbg_12345678901234  * a note t…\n')
  })

  it('is cut at its end where columns that give way are not enough', () => {
    expect(aligned(columns, rows, 9, same)).toBe('ID     N…\nbg_1   *…\nbg_10  *…\n')
    expect(aligned(columns, rows, 3, same)).toBe('ID\nbg…\nbg…\n')
  })

  it('leaves a column out that no row has a value for', () => {
    const named = aligned(columns, [...rows, { id: 'bg_2', note: '', name: 'reader' }], 80, same)
    expect(named).toContain('ID     NAME    NOTE\n')
  })

  it('paints what is left of a cell after it was cut', () => {
    const painted = columns.map((column) => ({ ...column, paint: () => (text: string) => `<${text}>` }))
    expect(aligned(painted, rows, 20, same)).toContain('<bg_10>  <* 海藻 that …>\n')
  })

  it('has whole values with tabs between in a pipe, one line for each row whatever is in it', () => {
    const hostile = { id: 'bg_3', note: 'a\tb\nc\u001b[31mred\u001b[0m\u0007\u009b5n\u2028d\u202ee' }
    const text = tabbed(columns, [...rows, hostile])
    expect(text.split('\n')).toEqual(['bg_1\t\tshort', 'bg_10\t\t海藻 that is rather long', 'bg_3\t\ta b cred d e', ''])
  })
})
