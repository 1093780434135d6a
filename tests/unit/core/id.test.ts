import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { principal, principalOf, taskId, taskNumber, threadId, threadKey, threadOf } from '../../../src/core/id.ts'
import { codeOf } from './thrown.ts'

const threadText = fc.stringMatching(/^[A-Za-z0-9._:@~-]{1,128}$/).filter((text) => text !== '.' && text !== '..')
const principalText = fc.stringMatching(/^[!-.0-~]{1,128}$/)

describe('threadId', () => {
  it.each(['t', 'a.b_c:d@e~f-g', '...', '.a', 'x'.repeat(128)])('accepts %s', (text) => {
    expect(threadId(text)).toBe(text)
  })

  it.each(['', '.', '..', 'x'.repeat(129), 'a b', 'a/b', 'a%b', 'a\n', 'é', 'a\u0000'])('refuses %j', (text) => {
    expect(codeOf(() => threadId(text))).toBe('invalid_request')
  })

  it('refuses what is no string', () => {
    expect(codeOf(() => threadId(7 as unknown as string))).toBe('invalid_request')
  })
})

describe('principal', () => {
  it.each(['owner', 'alice@example.org', '!', '~', 'a%2Fb'])('accepts %s', (text) => {
    expect(principal(text)).toBe(text)
  })

  it.each(['', 'a/b', '/', 'a b', 'a\t', 'é', 'x'.repeat(129)])('refuses %j', (text) => {
    expect(codeOf(() => principal(text))).toBe('invalid_request')
  })
})

describe('threadKey', () => {
  it('gives its principal and its thread back', () => {
    fc.assert(
      fc.property(principalText, threadText, (owner, thread) => {
        const key = threadKey(principal(owner), threadId(thread))
        expect([principalOf(key), threadOf(key)]).toEqual([owner, thread])
      }),
    )
  })

  it('keeps two pairs apart', () => {
    const pair = fc.tuple(principalText, threadText)
    fc.assert(
      fc.property(pair, pair, (a, b) => {
        const [one, other] = [a, b].map(([owner, thread]) => threadKey(principal(owner), threadId(thread)))
        expect(one === other).toBe(a[0] === b[0] && a[1] === b[1])
      }),
    )
  })
})

describe('taskNumber', () => {
  it('reads back every number that an id was made of', () => {
    fc.assert(fc.property(fc.nat({ max: 999_999_999_999_999 }), (n) => taskNumber(taskId(`bg_${n}`)) === n))
  })

  it.each(['', 'bg_', 'bg_01', 'bg_-1', 'bg_1.5', 'bg_1 ', 'xbg_1', 'BG_1', 'bg_1e3', 'bg_9007199254740993'])(
    'has none for %j',
    (id) => {
      expect(taskNumber(id)).toBeUndefined()
    },
  )
})
