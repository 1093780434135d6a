import { describe, expect, it } from 'vitest'
import { idsOf, localServer, streamRequest, until } from './harness/local-server.ts'

const sse = { accept: 'text/event-stream' }
const ndjson = { accept: 'application/x-ndjson' }
const events = '/v1/threads/t/events'

async function withEndedRun() {
  const local = await localServer()
  const task = await local.run('t', [{ say: 'one' }, { say: 'two' }])
  await local.runtime.wait(task)
  const { head } = await local.runtime.thread('t')
  return { ...local, task, head }
}

describe('the log over HTTP', () => {
  it('is SSE that begins with retry, in the same write as the headers, and goes on from there', async () => {
    const { raw, run } = await localServer()
    const { socket, until: received } = raw(streamRequest(events))
    const [first] = await new Promise<[string]>((resolve) => socket.once('data', (text: string) => resolve([text])))
    expect(first).toContain('HTTP/1.1 200 OK\r\n')
    expect(first).toContain('retry: 1000\n\n')
    await run('t', [{ say: 'live' }])
    await received('live')
    await received('task.completed')
  })

  it('has the headers that keep proxies from holding events back, and those of every answer', async () => {
    const { get, task } = await withEndedRun()
    const { headers } = await get(`${events}?task=${task}`, sse)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/.+/),
      'x-holdfast-node': expect.stringMatching(/^node_/),
    })
  })

  it('ends with the terminal event of the task that it is about', async () => {
    const { get, task, head } = await withEndedRun()
    const text = await (await get(`${events}?task=${task}`, sse)).text()
    expect(idsOf(text)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
    expect(text).not.toContain('event:')
  })

  it('is an event per line as NDJSON', async () => {
    const { get, task, head } = await withEndedRun()
    const response = await get(`${events}?task=${task}&after=2`, ndjson)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = (await response.text()).split('\n').filter((line) => line !== '')
    expect(lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(
      Array.from({ length: head - 2 }, (_, index) => index + 3),
    )
  })

  it('sends the headers of NDJSON before there is an event', async () => {
    const { raw } = await localServer()
    const { until: received } = raw(streamRequest(events).replace('text/event-stream', 'application/x-ndjson'))
    await received('\r\n\r\n')
  })

  it.each([
    '*/*',
    'application/json',
    'text/*',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    'text/event-stream;q=0',
    'application/json, text/event-stream;q=0.5',
  ])('is a page for Accept: %s', async (accept) => {
    const { get, head } = await withEndedRun()
    const response = await get(`${events}?limit=2&after=1`, { accept })
    expect(response.headers.get('content-type')).toBe('application/json')
    const { events: found, ...rest } = (await response.json()) as { events: { seq: number }[] }
    expect(found.map(({ seq }) => seq)).toEqual([2, 3])
    expect(rest).toEqual({ head, next: 3 })
  })

  it.each(['text/event-stream', 'Text/Event-Stream', '*/*;q=0.1, text/event-stream'])(
    'is SSE for Accept: %s',
    async (accept) => {
      const { get, task } = await withEndedRun()
      const response = await get(`${events}?task=${task}`, { accept })
      expect(await response.text()).toMatch(/^retry: 1000\n\nid: 1\n/)
    },
  )

  it('says that a task has ended before the start: 204 as SSE, nothing as NDJSON', async () => {
    const { get, task, head } = await withEndedRun()
    const asSse = await get(`${events}?task=${task}`, { ...sse, 'last-event-id': String(head) })
    expect([asSse.status, await asSse.text()]).toEqual([204, ''])
    const asNdjson = await get(`${events}?task=${task}&after=${head}`, ndjson)
    expect([asNdjson.status, await asNdjson.text()]).toEqual([200, ''])
  })

  it('begins after Last-Event-ID, though the address says otherwise', async () => {
    const { get, task } = await withEndedRun()
    const text = await (await get(`${events}?task=${task}&after=1`, { ...sse, 'last-event-id': '3' })).text()
    expect(idsOf(text)[0]).toBe(4)
  })

  it.each([
    ['after=', {}, 400],
    ['after=-1', {}, 400],
    ['after=1.5', {}, 400],
    ['after=1e3', {}, 400],
    ['after=0x1', {}, 400],
    ['after=%201', {}, 400],
    ['after=9007199254740992', {}, 400],
    ['after=1&after=1', {}, 400],
    ['after=1', { 'last-event-id': 'x' }, 400],
    ['after=1', { 'last-event-id': '' }, 400],
    ['after=1', { 'last-event-id': '1, 2' }, 400],
    ['after=x', { 'last-event-id': '1' }, 400],
    ['types=', {}, 400],
    ['types=a,,b', {}, 400],
    ['after=9007199254740991', {}, 409],
    ['task=bg_999', {}, 404],
  ])('refuses ?%s with %o before a stream begins: %i', async (query, headers, status) => {
    const { get, head } = await withEndedRun()
    for (const accept of [sse, ndjson, { accept: '*/*' }]) {
      const response = await get(`${events}?${query}`, { ...accept, ...headers })
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      const problem = (await response.json()) as { head?: number }
      if (status === 409) expect(problem.head).toBe(head)
    }
  })

  it('opens no stream for HEAD', async () => {
    const { get, runtime } = await withEndedRun()
    const response = await get(events, sse, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect((await runtime.thread('t')).watchers).toBe(0)
  })

  it('lets a principal have as many streams as the limit says', async () => {
    const { raw, get, runtime } = await localServer({ limits: { streamsPerPrincipal: 1 } })
    const { until: received, socket } = raw(streamRequest(events))
    await received('retry: ')
    const refused = await get(events, sse)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'limit_reached', limit: 'streamsPerPrincipal' })
    expect((await get(events)).status).toBe(200)
    socket.destroy()
    await until(async () => (await runtime.thread('t')).watchers === 0)
    expect((await get(`${events}?after=1`, sse)).status).toBe(409)
    expect((await get(events, sse, { method: 'HEAD' })).status).toBe(200)
    const again = raw(streamRequest(events))
    await again.until('retry: ')
  })
})

describe('the events of all threads', () => {
  it('are SSE without ids, whatever is accepted, of the principal who asks', async () => {
    const { raw, run, runtime } = await localServer({ tokens: { owner: 'secret', bob: 'other' } })
    const all = raw(streamRequest('/v1/events').replace('text/event-stream', '*/*'))
    await all.until('retry: ')
    await runtime.as('bob').run({ thread: 'hers', agent: 'script', input: { script: [{ say: 'hidden' }] } })
    await Promise.all([run('a', [{ say: 'in a' }]), run('b', [{ say: 'in b' }])])
    await all.until('in a')
    await all.until('in b')
    expect(all.text).toContain('content-type: text/event-stream; charset=utf-8')
    expect(all.text).not.toMatch(/^id:/m)
    expect(all.text).not.toContain('hidden')
  })

  it('can be only those of some types', async () => {
    const { raw, run } = await localServer()
    const all = raw(streamRequest('/v1/events?types=task.completed'))
    await all.until('retry: ')
    await run('a', [{ say: 'not asked for' }])
    await all.until('task.completed')
    expect(all.text).not.toContain('text.delta')
  })
})
