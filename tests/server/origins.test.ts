import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startServer, type TestServer } from './harness/server.ts'

let server: TestServer

beforeAll(async () => {
  const env = {
    HOLDFAST_HOSTS: 'app.example',
    HOLDFAST_ORIGINS: 'https://front.example',
    HOLDFAST_TRUST_PROXY: '1',
  }
  server = await startServer({ store: 'memory', env })
})

afterAll(() => server.end())

interface Answer {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Unlike fetch, this sends any Host and Origin. */
function ask(path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(`${server.url}${path}`, { method, headers: { ...server.authorization(), ...headers } })
    asked.on('response', (response) => {
      resolve({ status: response.statusCode, headers: response.headers })
      response.destroy()
    })
    asked.on('error', reject)
    asked.end()
  })
}

/** The status that these bytes are answered with. */
async function statusOf(head: string): Promise<string | undefined> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const { authorization = '' } = server.authorization()
  socket.write(`${head}Authorization: ${authorization}\r\nConnection: close\r\n\r\n`)
  return /^HTTP\/1\.1 ([0-9]{3})/.exec(await text(socket))?.[1]
}

/** The status that an upgrade is answered with; 101 opens it. */
function upgrade(headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/ws`, 'holdfast.v1', {
      headers: { ...server.authorization(), ...headers },
    })
    socket.on('open', () => {
      resolve(101)
      socket.terminate()
    })
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    socket.on('error', reject)
  })
}

const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['the host of a page that was made to resolve to loopback', { host: 'rebound.example' }],
  ['a host that ends in a dot', { host: 'localhost.' }],
  ['an address in another notation', { host: '0x7f000001' }],
  ['another origin', { origin: 'http://evil.example' }],
  ['an opaque origin', { origin: 'null' }],
  ['a forwarded host that is not configured', { 'x-forwarded-host': 'rebound.example' }],
  ['the same origin but for its scheme', { host: 'app.example', origin: 'https://app.example' }],
]

describe('a request with', () => {
  it.each(wrong)('%s is refused on every route and transport', async (_, headers) => {
    expect((await ask('/v1/tasks', headers)).status).toBe(403)
    expect((await ask('/v1/threads/t/events', { ...headers, accept: 'text/event-stream' })).status).toBe(403)
    expect((await ask('/v1/login', headers, 'POST')).status).toBe(403)
    expect((await ask('/no/such/path', headers)).status).toBe(403)
    expect((await ask('/v1/tasks', { ...headers, authorization: 'Bearer wrong' })).status).toBe(403)
    expect(await upgrade(headers)).toBe(403)
  })

  it.each([
    ['no origin', {}],
    ['a configured host', { host: 'app.example' }],
    ['the same origin', { host: 'app.example', origin: 'http://app.example' }],
    [
      'the origin of a trusted proxy',
      { 'x-forwarded-host': 'app.example', 'x-forwarded-proto': 'https', origin: 'https://app.example' },
    ],
    ['a configured origin', { origin: 'https://front.example' }],
  ])('%s is answered', async (_, headers: Record<string, string>) => {
    expect((await ask('/v1/tasks', headers)).status).toBe(200)
    expect((await ask('/v1/threads/t/events', { ...headers, accept: 'text/event-stream' })).status).toBe(200)
    expect(await upgrade(headers)).toBe(101)
  })

  it.each([
    ['two hosts', 'GET /v1/tasks HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example\r\n'],
    ['an empty host', 'GET /v1/tasks HTTP/1.1\r\nHost: \r\n'],
    ['no host', 'GET /v1/tasks HTTP/1.1\r\n'],
    ['no host, as HTTP/1.0 may', 'GET /v1/tasks HTTP/1.0\r\n'],
    ['another host in its target', 'GET http://localhost/v1/tasks HTTP/1.1\r\nHost: rebound.example\r\n'],
  ])('%s is refused', async (_, head) => {
    expect(await statusOf(head)).toMatch(/^40[03]$/)
  })

  it.each([
    ['a user name before the host', 'localhost@rebound.example'],
    ['a path after the host', 'localhost/rebound.example'],
    ['a query after the host', 'localhost?rebound.example'],
    ['a host of two words', 'localhost rebound.example'],
    ['half an address', '[::1'],
  ])('%s is refused as any other wrong host, which the probes ignore', async (_, host) => {
    expect(await statusOf(`GET /v1/tasks HTTP/1.1\r\nHost: ${host}\r\n`)).toBe('403')
    expect(await statusOf(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n`)).toBe('200')
  })

  it('any host is answered by the probes', async () => {
    expect((await ask('/healthz', { host: 'rebound.example', authorization: '' })).status).toBe(200)
    expect((await ask('/readyz', { host: '10.1.2.3:4747', authorization: '' })).status).toBe(200)
  })
})

describe('CORS', () => {
  it('is there for a configured origin, also where it is refused otherwise', async () => {
    const origin = 'https://front.example'
    for (const path of ['/v1/tasks', '/v1/tasks/bg_404', '/openapi.json']) {
      const { headers } = await ask(path, { origin })
      expect(headers['access-control-allow-origin']).toBe(origin)
      expect(headers['vary']).toContain('Origin')
    }
    const { status, headers } = await ask('/v1/tasks', { origin, authorization: 'Bearer wrong' })
    expect([status, headers['access-control-allow-origin']]).toEqual([401, origin])
  })

  it('answers a preflight without a credential', async () => {
    const asked = { 'access-control-request-method': 'POST', authorization: '' }
    const { status, headers } = await ask(
      '/v1/threads/t/runs',
      { ...asked, origin: 'https://front.example' },
      'OPTIONS',
    )
    expect(status).toBe(204)
    expect(headers['access-control-allow-headers']).toContain('Authorization')
    const other = await ask('/v1/threads/t/runs', { ...asked, origin: 'https://evil.example' }, 'OPTIONS')
    expect([other.status, other.headers['access-control-allow-origin']]).toEqual([403, undefined])
  })
})

describe('a cookie', () => {
  it('is Secure when the browser came by https to a trusted proxy', async () => {
    const login = async (headers: Record<string, string>) => {
      const answer = await server.request('POST', '/v1/login', { body: { token: server.tokens['alice'] }, headers })
      return answer.headers.get('set-cookie') ?? ''
    }
    expect(await login({ 'x-forwarded-proto': 'https' })).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
    expect(await login({})).toMatch(/; HttpOnly; SameSite=Strict$/)
  })
})
