import { describe, expect, it } from 'vitest'
import { isTraceparent } from '../../../src/core/traceparent.ts'

const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']

describe('a traceparent', () => {
  it.each([`00-${trace}-${span}-01`, `00-${trace}-${span}-00`, `00-${trace}-${span}-ff`])('is %s', (text) => {
    expect(isTraceparent(text)).toBe(true)
  })

  it.each([
    '',
    `01-${trace}-${span}-01`,
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}`,
    `00-${trace}-${span}-01-more`,
    `00-${trace}-${span}-01\n`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.slice(1)}-${span}-01`,
    undefined,
    null,
    {},
  ])('is not %j', (value) => {
    expect(isTraceparent(value)).toBe(false)
  })
})
