import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkName } from '../../../src/core/name.ts'
import { codeOf } from './thrown.ts'

describe('checkName', () => {
  it.each(['a', 'Planner_2', '-', '_', 'x'.repeat(64), 'Parent', 'selfish'])('gives back %s', (name) => {
    expect(checkName(name)).toBe(name)
  })

  it.each(['parent', 'self', 'all', 'broadcast'])('refuses %s as reserved', (name) => {
    expect(codeOf(() => checkName(name))).toBe('reserved_name')
  })

  it('accepts any other word of its alphabet', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
    fc.assert(fc.property(word, (name) => codeOf(() => checkName(name)) !== 'invalid_request'))
  })

  it.each(['', 'x'.repeat(65), 'a b', 'a/b', 'a.b', 'é', 'a\n', '\u0000'])('refuses %j as malformed', (name) => {
    expect(codeOf(() => checkName(name))).toBe('invalid_request')
  })

  it('refuses what is no string', () => {
    expect(codeOf(() => checkName(undefined as unknown as string))).toBe('invalid_request')
    expect(codeOf(() => checkName(['a'] as unknown as string))).toBe('invalid_request')
  })
})
