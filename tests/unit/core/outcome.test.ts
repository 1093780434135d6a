import { describe, expect, it } from 'vitest'
import { cancelled, errorText, failed } from '../../../src/core/outcome.ts'

describe('the text of an error', () => {
  const lengthMax = 32_768

  it('is whole up to a length, and shows by its end that it was longer', () => {
    const whole = 'x'.repeat(lengthMax)
    for (const told of [(text: string) => failed(text).message, (text: string) => errorText(new Error(text))]) {
      expect(told(whole)).toBe(whole)
      expect(told(`${whole}y`)).toBe(`${whole}…`)
    }
    expect(cancelled(`${whole}y`).message).toBe(`cancelled: ${whole}…`)
  })

  it('is never cut within a character', () => {
    const text = `${'x'.repeat(lengthMax - 1)}\u{1f99c}\u{1f99c}`
    expect(failed(text).message).toBe(`${'x'.repeat(lengthMax - 1)}…`)
  })
})
