import { describe, expect, it } from 'vitest'
import { createClient, type HoldfastError, isHoldfastError } from '../../../src/client/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { clientWorld } from './client-world.ts'

/** A client whose server gives these answers in turn; the last for ever. */
function answering(...answers: readonly (Response | Error)[]) {
  const clock = manualClock()
  const asked: { readonly url: string; readonly init: RequestInit }[] = []
  const fetch: typeof globalThis.fetch = (url, init = {}) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    asked.push({ url: url as string, init })
    return answer instanceof Response ? Promise.resolve(answer.clone()) : Promise.reject(answer)
  }
  return { clock, asked, client: createClient({ url: 'http://s/base/', fetch, clock, random: () => 0 }) }
}

const broken = new TypeError('fetch failed')
const json = (body: unknown, init?: ResponseInit) => Response.json(body, init)

async function thrown(doing: Promise<unknown>): Promise<HoldfastError> {
  const error = await doing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isHoldfastError(error)) throw new Error(`A HoldfastError was expected, and it is ${String(error)}`)
  return error
}

describe('the calls of a client', () => {
  it('ask for what the protocol says', async () => {
    const { client, asked } = answering(json({}))
    const thread = client.thread('a b')
    const calls: (() => Promise<unknown>)[] = [
      () => client.get('bg_1'),
      () => client.list({ thread: 't', status: ['pending', 'running'], limit: 5 }),
      () => client.threads({ cursor: 'c' }),
      () => thread.snapshot(),
      () => thread.messages({ after: 3 }),
      () => thread.events({ after: 3, types: ['usage', 'custom'], task: 'bg_1' }),
      () => thread.results(),
      () => client.questions({ thread: 't' }),
      () => client.agents(),
      () => client.limits(),
      () => client.health(),
      () => client.ready(),
      () => client.metrics(),
      () => client.openapi(),
      () => thread.delete(),
      () => client.cancel('bg_1', { tree: false, reason: 'r' }),
      () => thread.cancel({ scope: 'all' }),
      () => thread.collect(['bg_1']),
      () => client.send('bg_1', { content: 1, from: 'me' }),
      () => client.answer('q/1', 'yes'),
      () => client.prune({ eventsMs: 5, dryRun: true }),
      () => client.login({ code: 'c' }),
      () => client.logout(),
    ]
    for (const call of calls) await call()
    const lines = asked.map(({ url, init: { method, body } }) =>
      [method, url.replace('http://s/base', ''), ...(body === undefined ? [] : [body as string])].join(' '),
    )
    expect(lines).toEqual([
      'GET /v1/tasks/bg_1',
      'GET /v1/tasks?thread=t&status=pending%2Crunning&limit=5',
      'GET /v1/threads?cursor=c',
      'GET /v1/threads/a%20b',
      'GET /v1/threads/a%20b/messages?after=3',
      'GET /v1/threads/a%20b/events?after=3&task=bg_1&types=usage%2Ccustom',
      'GET /v1/threads/a%20b/results',
      'GET /v1/questions?thread=t',
      'GET /v1/agents',
      'GET /v1/limits',
      'GET /healthz',
      'GET /readyz',
      'GET /metrics',
      'GET /openapi.json',
      'DELETE /v1/threads/a%20b',
      'POST /v1/tasks/bg_1/cancel {"tree":false,"reason":"r"}',
      'POST /v1/threads/a%20b/cancel {"scope":"all"}',
      'POST /v1/threads/a%20b/results/collect {"tasks":["bg_1"]}',
      'POST /v1/tasks/bg_1/messages {"content":1,"from":"me"}',
      'POST /v1/questions/q%2F1/answer {"answer":"yes"}',
      'POST /v1/prune {"eventsMs":5,"dryRun":true}',
      'POST /v1/login {"code":"c"}',
      'POST /v1/logout {}',
    ])
  })

  it('reject with the code, the sentence and the facts of the server', async () => {
    const problem = {
      ...{ type: 'urn:holdfast:error:task_terminated', title: 'Ended', status: 409, code: 'task_terminated' },
      ...{ detail: 'The task has ended', requestId: 'r-1', taskStatus: 'failed' },
    }
    const error = await thrown(answering(json(problem, { status: 409 })).client.send('bg_1', { content: 1 }))
    expect(error).toMatchObject({ code: 'task_terminated', message: 'The task has ended' })
    expect(error.facts).toEqual({ taskStatus: 'failed', requestId: 'r-1', status: 409 })
  })

  it('tell what something in between answered from what the server did', async () => {
    const html = (status: number) => new Response('<html>', { status })
    expect(await thrown(answering(html(502)).client.send('bg_1', { content: 1 }))).toMatchObject({
      code: 'unreachable',
    })
    expect(await thrown(answering(html(404)).client.get('bg_1'))).toMatchObject({ code: 'not_found' })
    expect(await thrown(answering(html(418)).client.get('bg_1'))).toMatchObject({ code: 'invalid_request' })
  })

  it('refuse an id that no path can name', async () => {
    const { client, asked } = answering(json({}))
    for (const id of ['.', '..', '']) await expect(client.get(id)).rejects.toThrow(/cannot be asked for/)
    expect(asked).toEqual([])
    await client.get('...')
  })

  it('are given up with their signal', async () => {
    const leaving = new AbortController()
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      })
    const client = createClient({ url: 'http://s', fetch, clock: manualClock() })
    const doing = client.limits({ signal: leaving.signal })
    leaving.abort(new Error('enough'))
    await expect(doing).rejects.toThrow('enough')
  })

  it('are not waited for without end', async () => {
    const clock = manualClock()
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      })
    const client = createClient({ url: 'http://s', fetch, clock })
    const doing = thrown(client.send('bg_1', { content: 1 }))
    await clock.advance(60_000)
    expect(await doing).toMatchObject({ code: 'unreachable' })
  })
})

describe('a request whose answer was lost', () => {
  it('is sent again under the same key, and the work is accepted once', async () => {
    const { client, server, clock } = clientWorld()
    server.losesAnswers = 2
    const running = client.run('t', { agent: 'echo', prompt: 'hi', metadata: { a: 1 } })
    await clock.advance(10_000)
    expect(await running).toMatchObject({ id: 'bg_0', isReplayed: true })
    expect(server.accepted.size).toBe(1)
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(3)
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({ agent: 'echo', prompt: 'hi', metadata: { a: 1 } })
  })

  it('has another key each time, unless one is given', async () => {
    const { client, server } = clientWorld()
    await client.run('t', { agent: 'echo', prompt: 'hi' })
    await client.spawn('t', { agent: 'echo', prompt: 'hi' })
    await client.run('t', { agent: 'echo', prompt: 'hi', idempotencyKey: 'mine', traceparent: 'trace' })
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'))
    expect(new Set(keys).size).toBe(3)
    expect(keys[2]).toBe('mine')
    expect(server.requests[2]?.headers.get('traceparent')).toBe('trace')
  })

  it('is repeated only if that does no harm, and not for ever', async () => {
    const { client, asked, clock } = answering(broken)
    expect(await thrown(client.cancel('bg_1'))).toMatchObject({ code: 'unreachable' })
    expect(asked).toHaveLength(1)
    const reading = thrown(client.get('bg_1'))
    await clock.advance(60_000)
    expect(await reading).toMatchObject({ code: 'unreachable', cause: broken })
    expect(asked.length).toBeGreaterThan(3)
  })

  it.each(['a server that drains', 'a proxy'])('is waited with as long as %s says', async (who) => {
    const problem = { type: 't', title: 'Draining', status: 503, code: 'draining', requestId: 'r' }
    const away = { status: 503, headers: { 'retry-after': '3' } }
    const { client, asked, clock } = answering(
      who === 'a proxy' ? new Response('<html>', away) : json(problem, away),
      json({ id: 'bg_0' }),
    )
    const reading = client.get('bg_0')
    await clock.advance(2_999)
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect(await reading).toEqual({ id: 'bg_0' })
  })

  it('is waited with a little where the server is away until a date, which is not read', async () => {
    const away = new Response('<html>', { status: 503, headers: { 'retry-after': 'Wed, 18 Nov 2026 00:00:00 GMT' } })
    const { client, asked, clock } = answering(away, json({ id: 'bg_0' }))
    const reading = client.get('bg_0')
    await clock.advance(100)
    expect(asked).toHaveLength(1)
    await clock.advance(400)
    expect(await reading).toEqual({ id: 'bg_0' })
  })
})
