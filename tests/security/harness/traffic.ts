import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { TestServer } from '../../server/harness/server.ts'
import type { Canaries } from './canaries.ts'
import { upgrade } from './upgrade.ts'

/** Everything that came back, one text for each answer. */
export type Said = [where: string, text: string][]

/** Asks for work of all kinds and for what is refused, rightly and wrongly, with a secret in every place that a request has. */
export async function traffic(server: TestServer, canaries: Canaries, said: Said): Promise<void> {
  await refusedRequests(server, canaries, said)
  await logins(server, canaries, said)
  await upgrades(server, canaries, said)
  await work(server, said)
}

/** Reads everything that there is to be read. */
export async function reads(server: TestServer, said: Said): Promise<void> {
  for (const path of ['/metrics', '/readyz', '/healthz', '/openapi.json', '/v1/agents', '/v1/limits', '/console']) {
    await keep(server, said, 'GET', path)
  }
  for (const path of [
    '/v1/tasks?limit=1000',
    '/v1/threads',
    '/v1/questions',
    '/v1/threads/t',
    '/v1/threads/t/results',
  ]) {
    await keep(server, said, 'GET', path)
  }
  for (const accept of ['text/event-stream', 'application/x-ndjson', 'application/json']) {
    await keep(server, said, 'GET', '/v1/threads/t/events?task=bg_0', { headers: { accept } })
  }
}

type Options = Parameters<TestServer['request']>[2]

async function keep(server: TestServer, said: Said, method: string, path: string, options?: Options): Promise<void> {
  const { status, headers, text } = await server.request(method, path, options)
  const shown = [...headers].map(([name, value]) => `${name}: ${value}`)
  said.push([`the answer to ${method} ${path.split('?', 1)[0]}`, [status, ...shown, text].join('\n')])
}

async function refusedRequests(server: TestServer, canaries: Canaries, said: Said): Promise<void> {
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    keep(server, said, 'POST', path, { body, headers })
  const inBody = canaries.plant('a value in a refused body')
  const runs = '/v1/threads/t/runs'
  await post(runs, { agent: 'echo', prompt: 1, metadata: { secret: inBody } })
  await post(runs, { agent: 'echo', prompt: inBody, input: inBody })
  await post(runs, `{"agent":"echo","prompt":"${inBody}"`)
  await post(runs, `{"agent":"echo","prompt":"${inBody}${'x'.repeat(1_100_000)}"}`)
  await post('/v1/threads/t/tasks', { agent: 'echo', prompt: inBody, parent: 'bg_999999' })
  await post('/v1/tasks/bg_999999/messages', { content: inBody })
  await post('/v1/questions/q_999999/answer', { answer: inBody })
  await keep(server, said, 'PUT', runs, { body: { agent: 'echo', prompt: inBody } })
  const inQuery = canaries.plant('the query of an address')
  for (const path of ['/v1/tasks', '/v1/threads/t/events', '/v1/nowhere', '/healthz', '/console']) {
    await keep(server, said, 'GET', `${path}?token=${inQuery}&after=${inQuery}&limit=${inQuery}&cursor=${inQuery}`)
  }
  const wrong = {
    authorization: `Bearer ${canaries.plant('a wrong token')}`,
    'proxy-authorization': `Basic ${canaries.plant('a credential for a proxy')}`,
    'x-api-key': canaries.plant('an API key in a header'),
    cookie: `session=${canaries.plant('a cookie of another program')}; holdfast=${canaries.plant('a wrong cookie')}`,
    tracestate: `vendor=${canaries.plant('a trace state')}`,
    baggage: `user=${canaries.plant('baggage')}`,
    'x-forwarded-for': canaries.plant('a header of a proxy'),
    referer: `https://app.example/?code=${canaries.plant('the page before')}`,
    'user-agent': canaries.plant('the name of a browser'),
  }
  const { authorization: _wrong, ...rest } = wrong
  for (const headers of [wrong, rest, { ...wrong, authorization: `Basic ${canaries.plant('a password')}` }]) {
    for (const path of ['/v1/tasks', '/v1/threads/t/events', '/healthz', '/v1/nowhere']) {
      await keep(server, said, 'GET', path, { headers })
      await keep(server, said, 'GET', path, { headers: { ...headers, origin: 'https://evil.example' } })
    }
    await post(runs, { agent: 'nobody', prompt: 'hi' }, headers)
  }
}

async function logins(server: TestServer, canaries: Canaries, said: Said): Promise<void> {
  const login = (body: unknown) => keep(server, said, 'POST', '/v1/login', { body, as: '' })
  await login({ token: canaries.plant('a wrong token in a login') })
  await login({ code: canaries.plant('a wrong code in a login') })
  await login({ password: canaries.plant('a field that a login has not') })
  await login(`{"token":"${canaries.plant('a login that is no JSON')}`)
  const { headers, text } = await server.request('POST', '/v1/login', {
    body: { token: server.tokens['alice'] },
    as: '',
  })
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  said.push(['the body of a login', text])
  canaries.keep('the cookie of alice', cookie.replace('holdfast=', ''))
  const key = createHmac('sha256', server.tokens['alice'] ?? '')
    .update('holdfast cookie 1')
    .digest()
  canaries.keep('the key of the cookies of alice', key.toString('hex'))
  for (const path of ['/v1/tasks', '/v1/nowhere', '/v1/tasks/bg_999999']) {
    await keep(server, said, 'GET', path, { as: '', headers: { cookie } })
  }
}

async function upgrades(server: TestServer, canaries: Canaries, said: Said): Promise<void> {
  const port = Number(new URL(server.url).port)
  const encoded = Buffer.from(canaries.plant('a wrong token in a subprotocol')).toString('base64url')
  const wrong = [
    { 'sec-websocket-protocol': `holdfast.v1, bearer.${encoded}` },
    { authorization: `Bearer ${canaries.plant('a wrong token at an upgrade')}` },
    { cookie: `holdfast=${canaries.plant('a wrong cookie at an upgrade')}` },
    { ...server.authorization(), 'sec-websocket-key': canaries.plant('a key that is none') },
    { ...server.authorization(), origin: 'https://evil.example' },
  ]
  for (const headers of wrong) {
    const path = `/v1/ws?token=${canaries.plant('the query of an upgrade')}`
    said.push(['the answer to an upgrade', (await upgrade({ port, path, headers })).received])
  }
}

/** Tasks that complete and that fail, with their events. */
async function work(server: TestServer, said: Said): Promise<void> {
  const scripts = [
    [{ say: 'hello' }, { tool: 'search', input: 1, output: 2 }],
    [{ fail: 'on purpose' }],
    [{ spawn: { script: [{ return: 1 }], wait: true } }],
    [{ step: 'a', effect: 'http://127.0.0.1:1/nobody-listens' }],
  ]
  for (const script of scripts) {
    const id = await accepted(server, { agent: 'script', input: { script } })
    await keep(server, said, 'GET', `/v1/threads/t/events?task=${id}`, { headers: { accept: 'text/event-stream' } })
    await keep(server, said, 'GET', `/v1/tasks/${id}`)
  }
  for (const agent of ['assistant', 'echo']) {
    const id = await accepted(server, { agent, prompt: 'hi' })
    await keep(server, said, 'GET', `/v1/threads/t/events?task=${id}`, { headers: { accept: 'application/x-ndjson' } })
  }
}

/** The id of a run; one that is refused would leave nothing to be looked at. */
async function accepted(server: TestServer, body: object): Promise<string> {
  const answer = await server.request<{ id: string }>('POST', '/v1/threads/t/runs', { body })
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.id
}
