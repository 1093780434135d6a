import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Authentication, type AuthenticationOptions } from '../../../../src/server/auth/authentication.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { codeOf } from '../../core/thrown.ts'

const tokens = { alice: 'token-of-alice', bob: 'token-of-bob' }
const plain = { isSecure: false }

function authentication(options: Partial<AuthenticationOptions> = {}): Authentication {
  return new Authentication({ tokens, clock: manualClock(), ...options })
}

function asked(headers: Record<string, string>, from = authentication()): Promise<string | undefined> {
  return from.principalOf(new Headers(headers))
}

function subprotocol(token: string): string {
  return `holdfast.v1, bearer.${Buffer.from(token).toString('base64url')}`
}

/** The pair of a `Set-Cookie`, as a browser sends it back. */
function pairOf(cookie: string | undefined): string {
  return cookie?.split(';')[0] ?? ''
}

describe('a bearer token', () => {
  it.each([
    ['Bearer token-of-alice', 'alice'],
    ['bearer token-of-bob', 'bob'],
    ['BEARER   token-of-bob', 'bob'],
  ])('%s speaks for %s', async (authorization, principal) => {
    expect(await asked({ authorization })).toBe(principal)
  })

  it.each([
    'Bearer token-of-alic',
    'Bearer token-of-alicee',
    'Bearer Token-of-alice',
    'Bearer',
    'Bearer ',
    '',
    'Bearertoken-of-alice',
    'Basic token-of-alice',
    'token-of-alice',
    'Bearer token-of-alice, Bearer token-of-bob',
    'Bearer token-of-alice token-of-bob',
    'Bearer alice',
    'Bearer __proto__',
    `Bearer ${'x'.repeat(10_000)}`,
  ])('%j speaks for nobody', async (authorization) => {
    expect(await asked({ authorization })).toBeUndefined()
  })

  it('that is wrong is not made good by a cookie or a subprotocol', async () => {
    const here = authentication()
    const cookie = pairOf(here.login({ token: tokens.alice }, plain)?.cookie)
    expect(await asked({ cookie }, here)).toBe('alice')
    expect(await asked({ cookie, authorization: 'Bearer wrong' }, here)).toBeUndefined()
    const protocol = subprotocol(tokens.alice)
    expect(await asked({ 'sec-websocket-protocol': protocol, authorization: '' }, here)).toBeUndefined()
  })

  it('counts before the cookie of somebody else', async () => {
    const here = authentication()
    const cookie = pairOf(here.login({ token: tokens.alice }, plain)?.cookie)
    expect(await asked({ cookie, authorization: `Bearer ${tokens.bob}` }, here)).toBe('bob')
  })

  it('is kept nowhere as it is', () => {
    const shown = inspect(authentication(), { depth: Number.POSITIVE_INFINITY, showHidden: true })
    expect(shown).not.toContain(tokens.alice)
    expect(JSON.stringify(authentication())).not.toContain(tokens.alice)
  })
})

describe('a WebSocket subprotocol', () => {
  it('speaks for the principal of its token', async () => {
    expect(await asked({ 'sec-websocket-protocol': subprotocol(tokens.bob) })).toBe('bob')
    expect(await asked({ 'sec-websocket-protocol': subprotocol(tokens.bob).replace(', ', ',') })).toBe('bob')
  })

  it.each([
    'holdfast.v1',
    'bearer.',
    'bearer',
    'holdfast.v1, bearer.!!!!',
    `bearer.${tokens.alice}`,
    `${subprotocol('wrong')}, ${subprotocol(tokens.alice)}`,
    subprotocol(tokens.alice).replace('bearer', 'Bearer'),
  ])('%s speaks for nobody', async (protocol) => {
    expect(await asked({ 'sec-websocket-protocol': protocol })).toBeUndefined()
  })
})

describe('a login', () => {
  it('by token gives a cookie that speaks for its principal', async () => {
    const here = authentication()
    const login = here.login({ token: tokens.bob }, plain)
    expect(login?.principal).toBe('bob')
    expect(await asked({ cookie: pairOf(login?.cookie) }, here)).toBe('bob')
  })

  it('by a wrong token or code gives nothing', () => {
    expect(authentication().login({ token: 'wrong' }, plain)).toBeUndefined()
    expect(authentication().login({ token: '' }, plain)).toBeUndefined()
    expect(authentication().login({ code: 'wrong' }, plain)).toBeUndefined()
    expect(authentication({ tokens: {} }).login({ token: '' }, plain)).toBeUndefined()
  })

  it('by code works once, and for the principal it was made for', () => {
    const here = authentication()
    const code = here.newLoginCode('bob')
    expect(here.login({ code }, plain)?.principal).toBe('bob')
    expect(here.login({ code }, plain)).toBeUndefined()
  })

  it('takes no token for a code, and no code for a token', () => {
    const here = authentication()
    expect(here.login({ token: here.newLoginCode('bob') }, plain)).toBeUndefined()
    expect(here.login({ code: tokens.bob }, plain)).toBeUndefined()
  })

  it('by code is refused for a principal without a token', () => {
    expect(codeOf(() => authentication().newLoginCode('carol'))).toBe('invalid_request')
  })
})

describe('authenticate', () => {
  const request = new Request('http://localhost/v1/tasks', { headers: { 'x-who': 'carol' } })
  const authenticate = (shown: Request): string | undefined => shown.headers.get('x-who') ?? undefined

  it('says who asks, from the request', async () => {
    const here = authentication({ tokens: {}, authenticate })
    expect(await here.principalOf(request.headers, request)).toBe('carol')
  })

  it('is not asked about a request that a token speaks for', async () => {
    const here = authentication({ authenticate })
    const headers = new Headers({ 'x-who': 'carol', authorization: `Bearer ${tokens.bob}` })
    expect(await here.principalOf(headers, new Request('http://localhost/', { headers }))).toBe('bob')
  })

  it.each([undefined, ''])('lets nobody in with %j', async (answer) => {
    const here = authentication({ tokens: {}, authenticate: () => Promise.resolve(answer) })
    expect(await here.principalOf(request.headers, request)).toBeUndefined()
  })

  it('lets nobody in with what is no principal, and says that the program is wrong', async () => {
    const here = authentication({ tokens: {}, authenticate: () => 'a/b' })
    await expect(here.principalOf(request.headers, request)).rejects.toThrow('authenticate answered')
  })
})

describe('tokens', () => {
  it.each([
    [{ alice: '' }],
    [{ alice: 'with space' }],
    [{ alice: 'ümlaut' }],
    [{ alice: 'x'.repeat(1025) }],
    [{ 'a/b': 'token' }],
    [{ '': 'token' }],
    [{ alice: 'same', bob: 'same' }],
  ])('%j are refused', (wrong) => {
    expect(codeOf(() => authentication({ tokens: wrong }))).toBe('invalid_request')
  })

  it('are not named when they are refused', () => {
    expect(() => authentication({ tokens: { alice: 'very secret' } })).toThrow(/^(?!.*very secret)/)
  })
})
