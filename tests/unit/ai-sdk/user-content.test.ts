import { describe, expect, it } from 'vitest'
import { asParts, userContent } from '../../../src/ai-sdk/user-content.ts'

describe('what a model is given', () => {
  it('is the parts of a list of parts', () => {
    const parts = [
      { type: 'text', text: 'See ' },
      { type: 'file', mediaType: 'image/png', url: 'https://example.org/a.png', name: 'a.png' },
      { type: 'data', name: 'n', value: { n: 1 } },
    ]
    expect(userContent(asParts(parts))).toEqual([
      { type: 'text', text: 'See ' },
      { type: 'file', mediaType: 'image/png', data: new URL('https://example.org/a.png'), filename: 'a.png' },
      { type: 'text', text: '{"n":1}' },
    ])
  })

  it.each([[[{ type: 'text' }]], [[{ type: 'file', url: 7 }]], [[]], [[null]], [{ type: 'text', text: 'x' }], [null]])(
    'is JSON of what only looks like parts: %j',
    (input) => {
      expect(userContent(asParts(input))).toEqual([{ type: 'text', text: JSON.stringify(input) }])
    },
  )

  it('is the address of a file that leads nowhere', () => {
    const file = { type: 'file', mediaType: 'image/png', url: 'a.png' }
    expect(userContent(asParts([file]))).toEqual([{ type: 'text', text: 'a.png' }])
  })
})
