import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isIntricate, textBlocks } from '../../../console/src/views/thread/text-blocks.ts'

describe('a growing text', () => {
  it('is cut where a paragraph or a heading begins', () => {
    expect(textBlocks('one\n\n# two\nthree\n\nfour')).toEqual(['one\n\n', '# two\nthree\n\n', 'four'])
  })

  it.each([
    ['a list with blank lines', '1. a\n\n2. b\n\n   c'],
    ['a quote', '> a\n\n> b'],
    ['a fence', '```ts\na\n\nb\n```'],
    ['a fence that is still open', '````\na\n```\n\nb'],
    ['one that defines links', 'see [a]\n\nmore\n\n[a]: https://a.test'],
  ])('is not cut within %s', (_title, text) => {
    expect(textBlocks(text)).toEqual([text])
  })

  it('is the same when its blocks are joined, and only the last block changes as it grows', () => {
    const pieces = fc.constantFrom('a', ' ', '\n', '\n\n', '```', '- ', '1. ', '> ', '# ', '| ', '    ')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const text = parts.join('')
        const blocks = textBlocks(text)
        expect(blocks.join('')).toBe(text)
        const grown = textBlocks(`${text}b`)
        expect(grown.slice(0, blocks.length - 1)).toEqual(blocks.slice(0, -1))
      }),
    )
  })
})

describe('a block', () => {
  it.each([
    ['lists within each other', `${'- '.repeat(1000)}x`],
    ['quotes within each other', `${'>'.repeat(2000)} x`],
    ['quotes and lists behind other lines', `a\n${'> 1. '.repeat(60)}x`],
    ['emphasis that never ends', '*a **b '.repeat(3000)],
    ['images within each other', '!['.repeat(20_000)],
  ])('is too intricate with %s', (_title, text) => {
    expect(isIntricate(text)).toBe(true)
  })

  it.each([
    ['a rule', '-'.repeat(500)],
    ['a list of many words', '- **one** and _two_\n'.repeat(150)],
    ['code', `\`\`\`c\n${'a[*p] = _b[i];\n'.repeat(3000)}\`\`\``],
    ['a long paragraph', 'word '.repeat(50_000)],
  ])('is not with %s', (_title, text) => {
    expect(isIntricate(text)).toBe(false)
  })
})
