import { expect, it } from 'vitest'
import { oneLine } from '../../../src/core/one-line.ts'

it('JSON without line ends stays the text it is', () => {
  const json = JSON.stringify({ text: 'é\r\n\u0000\u{1f600}' })
  expect(oneLine(json)).toBe(json)
})

it.for(['\u0085', '\u2028', '\u2029'])('%j is escaped, and means the same', (end) => {
  const value = { [`a${end}`]: `${end}b${end}${end}é` }
  const line = oneLine(JSON.stringify(value))
  expect(line).not.toContain(end)
  expect(JSON.parse(line)).toEqual(value)
})
