import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Authentication } from '../../../../src/server/auth/authentication.ts'
import { type ManualClock, manualClock } from '../../../../src/testing/manual-clock.ts'

const dayMs = 24 * 60 * 60 * 1000

function node(tokens: Record<string, string>, clock: ManualClock = manualClock(), basePath = ''): Authentication {
  return new Authentication({ tokens, clock, basePath })
}

function login(at: Authentication, token: string, isSecure = false): string {
  return at.login({ token }, { isSecure })?.cookie ?? ''
}

function asked(at: Authentication, cookie: string): Promise<string | undefined> {
  return at.principalOf(new Headers({ cookie }))
}

const pair = (cookie: string): string => cookie.split(';')[0] ?? ''
const valueIn = (cookie: string): string => pair(cookie).slice('holdfast='.length)

describe('the cookie', () => {
  it('is out of reach of scripts and of other sites', () => {
    const [, ...attributes] = login(node({ alice: 'a' }), 'a').split('; ')
    expect(attributes).toEqual(['Path=/', 'Max-Age=2592000', 'HttpOnly', 'SameSite=Strict'])
  })

  it('is Secure behind https, and belongs to the path that is served', () => {
    const cookie = login(node({ alice: 'a' }, manualClock(), '/holdfast'), 'a', true)
    expect(cookie).toMatch(/; Path=\/holdfast; .*; Secure$/)
  })

  it('is taken back by a logout with the same attributes', () => {
    const here = node({ alice: 'a' }, manualClock(), '/holdfast')
    expect(here.logoutCookie({ isSecure: true })).toBe(
      'holdfast=; Path=/holdfast; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
    )
    expect(here.logoutCookie({ isSecure: false })).not.toContain('Secure')
  })

  it('is good on every node with the same token, whatever other tokens it has', async () => {
    const cookie = pair(login(node({ alice: 'a' }), 'a'))
    expect(await asked(node({ bob: 'b', alice: 'a' }), cookie)).toBe('alice')
  })

  it('is void once the token changes, or belongs to another principal', async () => {
    const cookie = pair(login(node({ alice: 'a' }), 'a'))
    expect(await asked(node({ alice: 'changed' }), cookie)).toBeUndefined()
    expect(await asked(node({ bob: 'a' }), cookie)).toBeUndefined()
    expect(await asked(node({}), cookie)).toBeUndefined()
  })

  it('lasts 30 days', async () => {
    const clock = manualClock()
    const here = node({ alice: 'a' }, clock)
    const cookie = pair(login(here, 'a'))
    await clock.advance(30 * dayMs - 1)
    expect(await asked(here, cookie)).toBe('alice')
    await clock.advance(1)
    expect(await asked(here, cookie)).toBeUndefined()
  })

  it('is found among others', async () => {
    const here = node({ alice: 'a' })
    const cookie = pair(login(here, 'a'))
    expect(await asked(here, `theme=dark; holdfast=stale; ${cookie};other=1`)).toBe('alice')
    expect(await asked(here, `xholdfast=${valueIn(cookie)}`)).toBeUndefined()
  })

  it('carries any principal there can be', async () => {
    const principal = `${'!~"%;,=.'.repeat(15)}01234567`
    const here = node({ [principal]: 'a' })
    expect(await asked(here, pair(login(here, 'a')))).toBe(principal)
  })
})

describe('a forged cookie', () => {
  const here = node({ alice: 'a', bob: 'b' })
  const good = valueIn(login(here, 'a'))
  const [encoded = '', expiresAt = '', signature = ''] = good.split('.')
  const bob = Buffer.from('bob').toString('base64url')

  it.each([
    ['of another principal', `${bob}.${expiresAt}.${signature}`],
    ['with a later end', `${encoded}.${Number(expiresAt) + 1}.${signature}`],
    ['with another signature', `${encoded}.${expiresAt}.${'A'.repeat(43)}`],
    ['without a signature', `${encoded}.${expiresAt}.`],
    ['with a short signature', `${encoded}.${expiresAt}.${signature.slice(1)}`],
    ['with an end that is no number', `${encoded}.1e99.${signature}`],
    ['with the boundary moved', `${encoded}${expiresAt[0]}.${expiresAt.slice(1)}.${signature}`],
    ['with more parts', `${good}.x`],
    ['that is quoted', `"${good}"`],
    ['that is empty', ''],
    ['that is huge', 'A'.repeat(15_000)],
    ['that is escaped', encodeURIComponent(`${good};`)],
  ])('%s speaks for nobody', async (_, value) => {
    expect(await asked(here, `holdfast=${value}`)).toBeUndefined()
  })

  it.each([Buffer.alloc(0), Buffer.alloc(32), Buffer.from('carol')])(
    'of a principal without a token speaks for nobody, whatever key it is signed with',
    async (key) => {
      const signed = `${Buffer.from('carol').toString('base64url')}.${expiresAt}`
      const forged = createHmac('sha256', key).update(signed).digest('base64url')
      expect(await asked(here, `holdfast=${signed}.${forged}`)).toBeUndefined()
    },
  )

  it('is told from the good one it was made from', async () => {
    expect(await asked(here, `holdfast=${good}`)).toBe('alice')
  })
})
