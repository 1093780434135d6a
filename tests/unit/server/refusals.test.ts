import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { problem } from '../../../src/protocol/schemas/shapes.ts'
import { openSite, tokens } from './site.ts'

const runs = '/v1/threads/t/runs'
const echo = { agent: 'echo', prompt: 'x' }

describe('every answer', () => {
  it('carries the id of the request and of the node', async () => {
    const site = await openSite()
    const { node } = await site.runtime.info()
    const asked = [
      site.ask('GET', '/healthz', { as: '' }),
      site.ask('GET', '/v1/tasks', { as: '' }),
      site.ask('GET', '/v1/tasks'),
      site.ask('GET', '/nowhere'),
      site.ask('PUT', '/v1/tasks'),
      site.ask('POST', runs, { rawBody: '{' }),
      site.ask('GET', '/v1/tasks', { headers: { host: 'evil.example' } }),
    ]
    for (const answer of await Promise.all(asked)) {
      expect(answer.headers.get('x-holdfast-node')).toBe(node)
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      if (answer.status < 400) continue
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(problem.parse(answer.body).requestId).toBe(answer.headers.get('x-request-id'))
    }
  })

  it('takes over the id of a request that can stand in a log line', async () => {
    const site = await openSite()
    const idOf = async (id: string) =>
      (await site.ask('GET', '/v1/tasks', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
    expect(await idOf('a.B_c:1@~-'.replace('_', '-'))).toBe('a.B-c:1@~-')
    for (const id of ['', 'has space', 'x'.repeat(129), 'a,b', 'é', 'a"b']) expect(await idOf(id)).not.toBe(id)
  })
})

describe('who is asking', () => {
  it.each([
    {},
    { authorization: 'Bearer wrong' },
    { authorization: 'Bearer' },
    { authorization: `Basic ${tokens.alice}` },
    { authorization: tokens.alice },
    { cookie: 'holdfast=alice' },
  ])('is not known by %j', async (headers) => {
    const site = await openSite()
    for (const path of ['/v1/tasks', '/metrics', '/openapi.json', '/nowhere', '/v1/ws', '/v1/login']) {
      const answer = await site.ask('GET', path, { as: '', headers })
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
    expect((await site.ask('POST', runs, { as: '', headers, body: echo })).status).toBe(401)
    expect((await site.ask('GET', `/v1/tasks?token=${tokens.alice}`, { as: '', headers })).status).toBe(401)
  })

  it('may be told by the program around it', async () => {
    const site = await openSite({ authenticate: (request) => request.headers.get('x-user') ?? undefined })
    expect((await site.ask('GET', '/v1/tasks', { as: '', headers: { 'x-user': 'carol' } })).status).toBe(200)
    expect((await site.ask('GET', '/v1/tasks', { as: '' })).status).toBe(401)
  })

  it('stays unknown if that program fails, which is told to nobody but the log', async () => {
    const site = await openSite({
      authenticate: () => {
        throw new Error('password is hunter2')
      },
    })
    const answer = await site.ask('GET', '/v1/tasks', { as: '' })
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } })
    expect(answer.text).not.toContain('hunter2')
    expect(site.logged).toContainEqual(
      expect.objectContaining({
        level: 'error',
        facts: expect.objectContaining({ requestId: answer.body['requestId'] }),
      }),
    )
  })
})

describe('host and origin', () => {
  it('must be ours, but for the probes', async () => {
    const site = await openSite()
    for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }, { origin: 'null' }]) {
      expect(await site.ask('GET', '/v1/tasks', { headers })).toMatchObject({
        status: 403,
        body: { code: 'forbidden_origin' },
      })
      expect((await site.ask('POST', '/v1/login', { headers, body: { token: tokens.alice } })).status).toBe(403)
      expect((await site.ask('GET', '/healthz', { headers })).status).toBe(200)
      expect((await site.ask('GET', '/readyz', { headers })).status).toBe(200)
    }
  })

  it('lets pages of a configured origin read, also what is refused', async () => {
    const site = await openSite({ origins: ['https://app.example'] })
    const headers = { origin: 'https://app.example' }
    for (const answer of [
      await site.ask('GET', '/v1/tasks', { headers }),
      await site.ask('GET', '/nowhere', { headers }),
    ]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
    }
    const preflight = await site.ask('OPTIONS', runs, {
      as: '',
      headers: { ...headers, 'access-control-request-method': 'POST' },
    })
    expect(preflight).toMatchObject({ status: 204, text: '' })
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    expect(preflight.headers.has('x-request-id')).toBe(true)
    expect((await site.ask('OPTIONS', runs)).status).toBe(405)
  })
})

describe('paths and methods', () => {
  it('that are not known are 404, after who asks is known', async () => {
    const site = await openSite()
    for (const path of ['/', '/v1', '/v2/tasks', '/v1/tasks/', '/v1/tasks/a/b/c', '/healthz/x']) {
      expect(await site.ask('GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await site.ask('POST', '/v1/tasks//cancel')).status).toBe(404)
    expect((await site.ask('HEAD', '/v1/threads/')).status).toBe(400)
  })

  it.each([
    ['PUT', '/v1/tasks', 'GET, HEAD'],
    ['GET', runs, 'POST'],
    ['DELETE', '/v1/tasks/bg_1', 'GET, HEAD'],
    ['POST', '/v1/threads/t', 'GET, HEAD, DELETE'],
    ['PATCH', '/healthz', 'GET, HEAD'],
    ['GET', '/v1/login', 'POST'],
    ['POST', '/v1/events', 'GET, HEAD'],
    ['HEAD', runs, 'POST'],
    ['POST', '/v1/ws', 'GET, HEAD'],
    ['POST', '/console', 'GET, HEAD'],
    ['POST', '/console/', 'GET, HEAD'],
    ['DELETE', '/console/tasks/bg_0', 'GET, HEAD'],
    ['PUT', '/console/assets/x.js', 'GET, HEAD'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allow) => {
    const site = await openSite()
    const answer = await site.ask(method, path)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe(allow)
    if (method !== 'HEAD') expect(answer.body).toMatchObject({ code: 'method_not_allowed' })
  })

  it('answers HEAD as GET without a body', async () => {
    const site = await openSite()
    const answer = await site.ask('HEAD', '/v1/tasks')
    expect(answer).toMatchObject({ status: 200, text: '' })
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  it('refuses to delete a thread with fields that nobody knows, and deletes it with none', async () => {
    const site = await openSite()
    await site.ask('POST', runs, { body: echo })
    const refused = await site.ask('DELETE', '/v1/threads/t', { body: { scope: 'runs', keep: true } })
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(refused.text).toMatch(/scope.*keep/)
    expect((await site.ask('GET', '/v1/threads')).body['threads']).toHaveLength(1)
    for (const options of [{ body: {} }, {}]) {
      expect((await site.ask('DELETE', '/v1/threads/t', options)).status).toBe(204)
    }
    expect((await site.ask('GET', '/v1/threads')).body['threads']).toEqual([])
  })

  it('knows no way to say another method than the one that was used', async () => {
    const site = await openSite()
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' }
    expect((await site.ask('POST', '/v1/threads/t?_method=DELETE', { headers })).status).toBe(405)
  })

  it.each(['%zz', '%', '%ff', '%C3%28', 'a%2Fb', 'a b', 'ä', 'x'.repeat(129), '%00', '', 'a%0Ab', '%e2%80%a8'])(
    'refuses the thread id %j with 400',
    async (thread) => {
      const site = await openSite()
      for (const path of [`/v1/threads/${thread}`, `/v1/threads/${thread}/messages`]) {
        expect(await site.ask('GET', path)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      }
      expect((await site.ask('POST', `/v1/threads/${thread}/runs`, { body: echo })).status).toBe(400)
    },
  )

  it('refuses the thread ids that no URL can name, wherever they are given', async () => {
    const site = await openSite()
    for (const thread of ['.', '..']) {
      for (const path of ['/v1/tasks', '/v1/questions']) {
        const answer = await site.ask('GET', `${path}?thread=${thread}`)
        expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
        expect(answer.text).toContain('but not . or ..')
      }
    }
  })

  it.each([
    '/v1/threads/./messages',
    '/v1/threads/../events',
    '/v1/threads/..',
    '/v1/tasks/.?limit=1',
    '/v1/threads/%2e/messages',
    '/v1/threads/%2E%2e/events',
    '/v1/threads/.%2E/events',
    '/../healthz',
    '/console/../v1/tasks',
    'http://127.0.0.1/v1/threads/../tasks',
  ])('refuses the path %s as it was sent, whatever it comes to', async (url) => {
    const site = await openSite()
    const request = new Request(new URL(url, 'http://127.0.0.1:4747'))
    const answer = await site.app.fetch(request, { incoming: { url } as IncomingMessage })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('. or ..') })
    expect(answer.headers.has('x-request-id')).toBe(true)
  })

  it('takes dots that are no segment, and those of a query', async () => {
    const site = await openSite()
    for (const url of ['/v1/threads/...', '/v1/threads/.a', '/v1/threads/a..', '/v1/threads/a%2e?x=/../']) {
      const request = new Request(new URL(url, 'http://127.0.0.1:4747'), {
        headers: { host: '127.0.0.1:4747', authorization: `Bearer ${tokens.alice}` },
      })
      expect((await site.app.fetch(request, { incoming: { url } as IncomingMessage })).status).toBe(200)
    }
  })

  it('takes a thread id of all characters that there may be, escaped or not', async () => {
    const site = await openSite()
    for (const thread of ['aZ0._:@~-', '%61%5A0%2E_%3A%40%7E-', 'x'.repeat(128)]) {
      expect((await site.ask('GET', `/v1/threads/${thread}`)).body['thread']).toBe(decodeURIComponent(thread))
    }
  })

  it.each(['%zz', '%ff'])('refuses the task id %s with 400', async (id) => {
    const site = await openSite()
    expect((await site.ask('GET', `/v1/tasks/${id}`)).status).toBe(400)
  })

  it.each([
    'limit=1&limit=1',
    'limit=',
    'limit=0',
    'limit=1001',
    'limit=ten',
    'cursor=',
    'cursor=junk',
    'cursor=1&cursor=1',
  ])('refuses the query %s with 400', async (query) => {
    const site = await openSite()
    for (const path of ['/v1/threads', '/v1/tasks']) {
      expect(await site.ask('GET', `${path}?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
    }
  })

  it.each(['after=-1', 'after=', 'after=1&after=1', 'after=1.5', 'after=9007199254740992', 'limit=0'])(
    'refuses the query %s of messages with 400',
    async (query) => {
      const site = await openSite()
      expect((await site.ask('GET', `/v1/threads/t/messages?${query}`)).status).toBe(400)
    },
  )

  it.each(['status=done', 'status=', 'status=running&status=failed', 'name=a%20b', 'type=', 'thread=%20'])(
    'refuses the query %s of tasks with 400',
    async (query) => {
      const site = await openSite()
      expect((await site.ask('GET', `/v1/tasks?${query}`)).status).toBe(400)
    },
  )
})

describe('a base path', () => {
  it('is in front of everything', async () => {
    const site = await openSite({ basePath: '/holdfast' })
    const answer = await site.ask('POST', `/holdfast${runs}`, { body: echo })
    expect(answer.headers.get('location')).toBe(`/holdfast/v1/tasks/${String(answer.body['id'])}`)
    expect((await site.ask('GET', '/holdfast/healthz', { as: '' })).status).toBe(200)
    expect((await site.ask('PUT', '/holdfast/v1/tasks')).status).toBe(405)
    expect((await site.ask('GET', '/v1/tasks')).status).toBe(404)
    expect((await site.ask('GET', '/healthz', { as: '' })).status).toBe(401)
  })
})
