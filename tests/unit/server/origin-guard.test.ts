import { describe, expect, it } from 'vitest'
import { OriginGuard, type OriginGuardOptions } from '../../../src/server/origin-guard.ts'
import { codeOf } from '../core/thrown.ts'

interface Asked {
  readonly headers: Record<string, string>
  readonly isTls?: boolean
  readonly options?: OriginGuardOptions
}

/** The code of the refusal, or undefined if the request is let pass. */
function refusal({ headers, isTls = false, options = {} }: Asked): string | undefined {
  return codeOf(() => new OriginGuard(options).check(new Headers(headers), isTls))
}

describe('the host of a request', () => {
  it.each([
    'localhost',
    'localhost:4747',
    'LocalHost:4747',
    '127.0.0.1',
    '127.0.0.1:65535',
    '127.255.255.254:80',
    '[::1]',
    '[::1]:4747',
  ])('%s is loopback', (host) => {
    expect(refusal({ headers: { host } })).toBeUndefined()
  })

  it.each([
    'evil.example',
    'evil.example:4747',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io:4747',
    'evil-localhost',
    'app.localhost',
    'localhost.',
    'localhost.:4747',
    '127.0.0.1.',
    'user@localhost',
    'localhost@evil.example',
    'evil.example#localhost',
    'evil.example\\localhost',
    'http://localhost',
    'localhost/',
    'localhost:4747:4747',
    'localhost:',
    'localhost:99999',
    'localhost:-1',
    'localhost:0x50',
    'localhost:4747, evil.example',
    'localhost, localhost',
    'localhost evil.example',
    '%6cocalhost',
    '127.1',
    '127.0.1',
    '0177.0.0.1',
    '127.0.0.01',
    '127.0.0.256',
    '127.0.0.0x1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '0',
    '0.0.0.0:4747',
    '128.0.0.1',
    '::1',
    '[::]',
    '[::1',
    '[::1%lo]',
    '[::1%25lo]:4747',
    '[::2]',
    '[::ffff:127.0.0.1]',
    '[127.0.0.1]',
    '[localhost]',
    '*',
    '.',
    '.localhost',
    '',
  ])('%j is refused', (host) => {
    expect(refusal({ headers: { host } })).toBe('forbidden_origin')
  })

  it('is refused when it is not said', () => {
    expect(refusal({ headers: {} })).toBe('forbidden_origin')
  })

  it('is read from the URL of a request that has no header for it', () => {
    const guard = new OriginGuard({})
    expect(codeOf(() => guard.check(new Headers(), false, 'http://localhost:4747/v1'))).toBeUndefined()
    expect(codeOf(() => guard.check(new Headers(), false, 'http://evil.example/v1'))).toBe('forbidden_origin')
    const headers = new Headers({ host: 'evil.example' })
    expect(codeOf(() => guard.check(headers, false, 'http://localhost:4747/v1'))).toBe('forbidden_origin')
  })

  it.each([
    ['app.example', 'app.example', true],
    ['app.example', 'APP.example', true],
    ['App.Example', 'app.example', true],
    ['app.example', 'app.example:8443', true],
    ['app.example', 'app.example.', false],
    ['app.example', 'sub.app.example', false],
    ['app.example', 'xapp.example', false],
    ['app.example', 'app.example.evil', false],
    ['app.example:8443', 'app.example:8443', true],
    ['app.example:8443', 'app.example', false],
    ['app.example:8443', 'app.example:8444', false],
    ['app.example:80', 'app.example', true],
    ['app.example:443', 'app.example', false],
    ['192.168.1.20', '192.168.1.20:4747', true],
    ['[fd00::1]', '[fd00::1]:4747', true],
  ])('with %s configured, %s is let pass: %s', (configured, host, isRight) => {
    const options = { hosts: ['other.example', configured] }
    expect(refusal({ headers: { host }, options }) === undefined).toBe(isRight)
  })

  it('with the port that https implies is the one without', () => {
    const options = { hosts: ['app.example:443'] }
    expect(refusal({ headers: { host: 'app.example' }, isTls: true, options })).toBeUndefined()
  })

  it.each(['*', '*.example', 'https://app.example', 'app.example/', 'a b', '', 'app.example:port', 'a@b'])(
    'cannot be configured as %j',
    (host) => {
      expect(codeOf(() => new OriginGuard({ hosts: [host] }))).toBe('invalid_request')
    },
  )

  it('is not said back in the refusal', () => {
    expect(() => new OriginGuard({}).check(new Headers({ host: 'evil.example' }), false)).toThrow(/^(?!.*evil)/)
  })
})

describe('the origin of a request', () => {
  it.each([
    ['localhost:4747', 'http://localhost:4747', false],
    ['LOCALHOST:4747', 'http://localhost:4747', false],
    ['localhost', 'http://localhost', false],
    ['localhost:80', 'http://localhost', false],
    ['localhost', 'http://localhost:80', false],
    ['localhost', 'https://localhost', true],
    ['localhost:443', 'https://localhost', true],
    ['[::1]:4747', 'http://[::1]:4747', false],
  ])('to %s is the same when it is %s', (host, origin, isTls) => {
    expect(refusal({ headers: { host, origin }, isTls })).toBeUndefined()
  })

  it.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost',
    'http://localhost:4748',
    'https://localhost:4747',
    'http://127.0.0.1:4747',
    'http://[::1]:4747',
    'http://localhost:4747/',
    'http://localhost:4747/path',
    'http://localhost:4747@evil.example',
    'http://user@localhost:4747',
    'http://localhost:4747.evil.example',
    'http://localhost.:4747',
    'http://localhost:4747 http://evil.example',
    'http://localhost:4747, http://evil.example',
    'localhost:4747',
    '//localhost:4747',
    'file://',
    'file://localhost:4747',
    'ws://localhost:4747',
    '*',
  ])('%j is another one than that of localhost:4747, and is refused', (origin) => {
    expect(refusal({ headers: { host: 'localhost:4747', origin } })).toBe('forbidden_origin')
  })

  it.each([
    ['https://app.example', true],
    ['https://app.example:443', true],
    ['HTTPS://APP.example', true],
    ['http://app.example', false],
    ['https://app.example:8443', false],
    ['https://sub.app.example', false],
    ['https://app.example.', false],
    ['https://app.example.evil', false],
    ['null', false],
  ])('with https://app.example configured, %s is let pass: %s', (origin, isRight) => {
    const options = { origins: ['https://app.example'] }
    expect(refusal({ headers: { host: 'localhost:4747', origin }, options }) === undefined).toBe(isRight)
  })

  it('that is configured does not make up for a wrong host', () => {
    const options = { origins: ['https://app.example'] }
    const headers = { host: 'evil.example', origin: 'https://app.example' }
    expect(refusal({ headers, options })).toBe('forbidden_origin')
  })

  it('of a shell around a browser can be configured', () => {
    const options = { origins: ['tauri://localhost', 'chrome-extension://abcdefgh'] }
    const headers = { host: 'localhost:4747', origin: 'tauri://localhost' }
    expect(refusal({ headers, options })).toBeUndefined()
  })

  it.each(['*', 'null', 'app.example', 'https://app.example/', 'https://*.example', 'https://a@b', ''])(
    'cannot be configured as %j',
    (origin) => {
      expect(codeOf(() => new OriginGuard({ origins: [origin] }))).toBe('invalid_request')
    },
  )
})

describe('what a proxy forwards', () => {
  const options = { hosts: ['app.example'], trustProxy: true }
  const forwarded = { 'x-forwarded-host': 'app.example', 'x-forwarded-proto': 'https' }
  const host = '127.0.0.1:4747'

  it('counts when the proxy is trusted', () => {
    expect(refusal({ headers: { host, ...forwarded, origin: 'https://app.example' }, options })).toBeUndefined()
    expect(refusal({ headers: { host, ...forwarded, origin: 'http://127.0.0.1:4747' }, options })).toBe(
      'forbidden_origin',
    )
    expect(refusal({ headers: { host, 'x-forwarded-host': 'evil.example' }, options })).toBe('forbidden_origin')
  })

  it('counts for nothing otherwise', () => {
    const distrusting = { hosts: ['app.example'] }
    const origin = 'https://app.example'
    expect(refusal({ headers: { host, ...forwarded, origin }, options: distrusting })).toBe('forbidden_origin')
    expect(refusal({ headers: { host, 'x-forwarded-host': 'evil.example' } })).toBeUndefined()
    expect(new OriginGuard({}).isSecure(new Headers(forwarded), false)).toBe(false)
  })

  it('does not make up for a wrong host', () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'localhost' }
    expect(refusal({ headers, options })).toBe('forbidden_origin')
  })

  it('is what the outermost proxy was told', () => {
    const headers = { host, 'x-forwarded-host': 'app.example, inner', 'x-forwarded-proto': 'https, http' }
    expect(refusal({ headers: { ...headers, origin: 'https://app.example' }, options })).toBeUndefined()
  })

  it('says whether the browser came by https', () => {
    const guard = new OriginGuard(options)
    expect(guard.isSecure(new Headers(forwarded), false)).toBe(true)
    expect(guard.isSecure(new Headers({ 'x-forwarded-proto': 'http' }), true)).toBe(false)
    expect(guard.isSecure(new Headers(), true)).toBe(true)
    expect(guard.isSecure(new Headers(), false)).toBe(false)
  })
})

describe('CORS', () => {
  const guard = new OriginGuard({ origins: ['https://app.example'] })
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'POST' }

  it('is there for a configured origin', () => {
    expect(guard.corsHeaders('https://app.example')).toEqual({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'X-Request-Id, X-Holdfast-Node, Location, Idempotency-Replayed, Retry-After',
      vary: 'Origin',
    })
  })

  it('is there for nobody else, who still learns that answers vary', () => {
    expect(guard.corsHeaders('https://evil.example')).toEqual({ vary: 'Origin' })
    expect(guard.corsHeaders(null)).toEqual({ vary: 'Origin' })
    expect(new OriginGuard({}).corsHeaders('http://localhost:4747')).toBeUndefined()
  })

  it('answers a preflight of a configured origin', () => {
    const answer = guard.preflight('OPTIONS', new Headers(asked))
    expect(answer).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': expect.stringContaining('Idempotency-Key'),
      vary: expect.stringContaining('Origin'),
    })
  })

  it('answers no other preflight, and nothing that is none', () => {
    expect(guard.preflight('OPTIONS', new Headers({ ...asked, origin: 'https://evil.example' }))).toBeUndefined()
    expect(guard.preflight('OPTIONS', new Headers({ origin: asked.origin }))).toBeUndefined()
    expect(guard.preflight('GET', new Headers(asked))).toBeUndefined()
    expect(new OriginGuard({}).preflight('OPTIONS', new Headers(asked))).toBeUndefined()
  })
})
