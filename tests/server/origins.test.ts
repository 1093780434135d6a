import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

/** Unlike fetch, this sends any Origin. What Host and Origin come to on every transport is in tests/security/origin-table.ts. */
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

describe('a refused origin', () => {
  it('stands in the log, so that an operator knows what to add, over HTTP and at an upgrade', async () => {
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    expect((await ask('/v1/tasks', { origin: 'https://one.example' })).status).toBe(403)
    expect((await ask('/v1/ws', { ...upgrade, origin: 'https://two.example' })).status).toBe(403)
    for (const origin of ['https://one.example', 'https://two.example']) {
      await expect.poll(() => server.stderr.join('\n')).toContain(`"origin":"${origin}"`)
    }
  })
})
