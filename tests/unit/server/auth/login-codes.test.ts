import { describe, expect, it } from 'vitest'
import { codeMsMax, LoginCodes } from '../../../../src/server/auth/login-codes.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

describe('a login code', () => {
  it('works for 10 minutes', async () => {
    const clock = manualClock()
    const codes = new LoginCodes(clock)
    const [early, late] = [codes.make('alice'), codes.make('alice')]
    await clock.advance(codeMsMax - 1)
    expect(codes.take(early)).toBe('alice')
    await clock.advance(1)
    expect(codes.take(late)).toBeUndefined()
    expect(codeMsMax).toBe(600_000)
  })

  it('works once', () => {
    const codes = new LoginCodes(manualClock())
    const code = codes.make('alice')
    expect(codes.take(code)).toBe('alice')
    expect(codes.take(code)).toBeUndefined()
  })

  it('is another one every time, fit for a link', () => {
    const codes = new LoginCodes(manualClock())
    const made = Array.from({ length: 100 }, () => codes.make('alice'))
    expect(new Set(made).size).toBe(100)
    expect(made.every((code) => /^[A-Za-z0-9_-]{32}$/.test(code))).toBe(true)
  })

  it('is forgotten when a thousand newer ones wait', () => {
    const codes = new LoginCodes(manualClock())
    const first = codes.make('alice')
    const second = codes.make('alice')
    for (let made = 2; made < 1001; made += 1) codes.make('alice')
    expect(codes.take(first)).toBeUndefined()
    expect(codes.take(second)).toBe('alice')
  })
})
