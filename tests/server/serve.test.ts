import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentContext, createRuntime, serve } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import {
  authorization,
  getRequest,
  idsOf,
  localServer,
  type Raw,
  streamRequest,
  until,
} from './harness/local-server.ts'

const events = '/v1/threads/t/events'
const mib = 1024 * 1024

/** Says about this much, in pieces of 64 KiB. */
const flood = {
  async run(ctx: AgentContext, bytes: unknown): Promise<void> {
    for (let said = 0; said < Number(bytes); said += 65_536) await ctx.say('x'.repeat(65_536))
  },
}

describe('a stream over a real socket', () => {
  it('is taken up where it broke, at whatever byte it breaks, without a gap or a repeat', async () => {
    const { raw, run, runtime } = await localServer()
    const task = await run('t', [{ emit: 'tick', times: 400 }])
    await runtime.wait(task)
    const { head } = await runtime.thread('t')
    const seen: number[] = []
    for (let cut = 300; seen.at(-1) !== head; cut = (cut * 7) % 9973) {
      const request = getRequest(`${events}?task=${task}`, {
        accept: 'text/event-stream',
        'last-event-id': String(seen.at(-1) ?? 0),
      })
      seen.push(...(await idsBefore(raw(request), cut + 400)))
    }
    expect(seen).toEqual(Array.from({ length: head }, (_, index) => index + 1))
  })

  it('ends when its client leaves, and nothing else does', async () => {
    const { raw, runtime } = await localServer()
    const { id } = await runtime.run({ thread: 't', agent: 'script', input: { script: [{ hang: true }] } })
    const watching = Array.from({ length: 5 }, () => raw(streamRequest(events)))
    for (const { until: received } of watching) await received('task.started')
    expect((await runtime.thread('t')).watchers).toBe(5)
    for (const { socket } of watching) socket.resetAndDestroy()
    await until(async () => (await runtime.thread('t')).watchers === 0)
    expect((await runtime.get(id))?.status).toBe('running')
  })

  it('outlives clients that reset their connection in the middle of a flood', async () => {
    const { raw, runtime, get } = await localServer({ agents: { flood } })
    const watching = Array.from({ length: 10 }, () => raw(streamRequest(events)))
    for (const { until: received } of watching) await received('retry: ')
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 4 * mib })
    for (const { until: received, socket } of watching) {
      await received('text.delta')
      socket.resetAndDestroy()
    }
    expect((await runtime.wait(id))?.status).toBe('completed')
    await until(async () => (await runtime.thread('t')).watchers === 0)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it('holds little for a reader that never reads, and cuts it; others do not notice', async () => {
    const clock = manualClock()
    const { raw, runtime } = await localServer({ clock, agents: { flood } })
    const idle = Array.from({ length: 20 }, () => raw(streamRequest(events)))
    for (const { until: received, socket } of idle) {
      await received('retry: ')
      socket.pause()
    }
    const before = heldBytes()
    const reader = raw(streamRequest(events))
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 32 * mib })
    expect((await runtime.wait(id))?.status).toBe('completed')
    await reader.until('task.completed')
    expect(heldBytes() - before).toBeLessThan(idle.length * mib)
    await clock.advance(29_000)
    expect((await runtime.thread('t')).watchers).toBe(21)
    await clock.advance(8_000)
    await until(async () => (await runtime.thread('t')).watchers === 1)
    await Promise.all(
      idle.map(({ socket, closed }) => {
        socket.resume()
        return closed
      }),
    )
    expect(reader.socket.destroyed).toBe(false)
  })

  it('says something at least every 15 s', async () => {
    const clock = manualClock()
    const { raw } = await localServer({ clock })
    const [sse, ndjson] = [raw(streamRequest(events)), raw(getRequest(events, { accept: 'application/x-ndjson' }))]
    await sse.until('retry: ')
    await ndjson.until('\r\n\r\n')
    await clock.advance(15_000)
    await sse.until('3\r\n:\n\n')
    await ndjson.until('1\r\n\n')
  })
})

describe('a server that drains', () => {
  it('ends streams at once, refuses new work, answers reads, and stops when its tasks have ended', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { raw, get, run, runtime, server } = await localServer({
      agents: { held: { run: () => released } },
      shutdownMs: 20_000,
    })
    const { id } = await runtime.run({ thread: 't', agent: 'held', prompt: 'wait' })
    await until(async () => (await runtime.get(id))?.status === 'running')
    const stream = raw(streamRequest(events))
    await stream.until('task.started')
    const closed = server.close()
    await stream.until('0\r\n\r\n')
    expect((await get('/readyz')).status).toBe(503)
    const refused = await get(
      '/v1/threads/t/runs',
      { 'content-type': 'application/json' },
      {
        method: 'POST',
        body: JSON.stringify({ agent: 'held', prompt: 'more' }),
      },
    )
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({ code: 'draining' })
    expect((await get(`/v1/tasks/${id}`)).status).toBe(200)
    await expect(run('t', [])).rejects.toMatchObject({ code: 'draining' })
    release()
    await closed
    await stream.closed
    await expect(get('/healthz')).rejects.toThrow()
  })

  it('sends to its end what it has answered already', async () => {
    const large = { run: async () => 'x'.repeat(7 * mib) }
    const { raw, runtime, server } = await localServer({ agents: { large } })
    const { id } = await runtime.run({ thread: 't', agent: 'large', prompt: 'go' })
    await runtime.wait(id)
    const answer = raw(getRequest(`/v1/tasks/${id}`))
    await answer.until('"result":')
    answer.socket.pause()
    const closed = server.close()
    await until(async () => !(await runtime.readiness()).isReady)
    answer.socket.resume()
    await closed
    await answer.closed
    const [, length] = /content-length: (\d+)/i.exec(answer.text) ?? []
    expect(Number(length)).toBeGreaterThan(7 * mib)
    expect(answer.text.length - answer.text.indexOf('\r\n\r\n') - 4).toBe(Number(length))
  })

  it('does not wait for long for a reader that never reads', async () => {
    const { raw, runtime, server } = await localServer({ agents: { flood } })
    const idle = raw(streamRequest(events))
    await idle.until('retry: ')
    idle.socket.pause()
    const { id } = await runtime.run({ thread: 't', agent: 'flood', input: 16 * mib })
    await runtime.wait(id)
    await server.close()
  })

  it('does not wait for a client that is in the middle of its request', async () => {
    const { raw, server } = await localServer()
    const half = raw('POST /v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n')
    await half.until('100 Continue')
    await server.close()
    await half.closed
  })

  it('closes once, however often it is asked', async () => {
    const { server } = await localServer()
    await Promise.all([server.close(), server.close()])
    await server.close()
  })
})

describe('a server', () => {
  it('says in an error of its own that its address is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const runtime = createRuntime({ store: 'memory:' })
    onTestFinished(() => runtime.close())
    const started = serve(runtime, { port, tokens: { owner: 'secret' }, handlesSignals: false })
    await expect(started).rejects.toMatchObject({
      code: 'cannot_listen',
      facts: { host: '127.0.0.1', port, reason: 'EADDRINUSE' },
    })
  })

  it.each([{}, { tokens: {} }])('does not start without anybody who could be let in: %o', async (options) => {
    const runtime = createRuntime({ store: 'memory:' })
    onTestFinished(() => runtime.close())
    await expect(serve(runtime, { port: 0, ...options })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('makes codes that log a browser in', async () => {
    const { server } = await localServer()
    const code = server.newLoginCode('owner')
    const login = await fetch(`${server.url}/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    expect(login.headers.get('set-cookie')).toContain('HttpOnly')
    expect(() => server.newLoginCode('nobody')).toThrow()
  })

  it('answers under its base path and nowhere else', async () => {
    const { server } = await localServer({ basePath: '/holdfast/' })
    expect(server.url).toMatch(/\/holdfast$/)
    const at = async (path: string) => (await fetch(new URL(path, server.url), { headers: authorization })).status
    expect(await at('/holdfast/v1/limits')).toBe(200)
    expect(await at('/holdfast/v1/threads/t/events')).toBe(200)
    expect(await at('/v1/limits')).toBe(404)
  })

  it.each([
    ['no request', 'NONSENSE\r\n\r\n'],
    ['a version that is not there', 'GET / HTTP/9.9\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['a length that is none', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: nan\r\n\r\n'],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n'],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['a backslash in its path', 'GET /a\\b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'],
    ['a host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
  ])('answers what is no HTTP with a 4xx, closes, and goes on: %s', async (_title, text) => {
    const { raw, get } = await localServer()
    const malformed = raw(text)
    await malformed.closed
    expect(malformed.text).toMatch(/^HTTP\/1.1 4\d\d /)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it('answers a probe of HTTP/1.0 that names no host, and nothing else', async () => {
    const { raw } = await localServer()
    const [probe, other] = [raw('GET /healthz HTTP/1.0\r\n\r\n'), raw('GET /v1/limits HTTP/1.0\r\n\r\n')]
    await Promise.all([probe.closed, other.closed])
    expect(probe.text).toMatch(/^HTTP\/1.1 200 /)
    expect(other.text).toMatch(/^HTTP\/1.1 403 /)
  })

  it('answers in HTTP whoever offers to upgrade to what it does not speak, or elsewhere', async () => {
    const { raw } = await localServer()
    const upgrade = { connection: 'Upgrade, close', 'sec-websocket-version': '13', 'sec-websocket-key': 'eA==' }
    const cases: [Raw, RegExp][] = [
      [raw(getRequest('/v1/limits', { ...upgrade, upgrade: 'h2c' })), /^HTTP\/1.1 200 /],
      [raw(getRequest('/v1/wss', { ...upgrade, upgrade: 'websocket' })), /^HTTP\/1.1 404 /],
      [raw(getRequest('/v1/wss', { ...upgrade, upgrade: 'websocket', authorization: 'Bearer no' })), /^HTTP\/1.1 401 /],
      [raw(getRequest('/v1/ws', { ...upgrade, upgrade: 'websocket', authorization: 'Bearer no' })), /^HTTP\/1.1 401 /],
    ]
    for (const [answer, expected] of cases) {
      await answer.closed
      expect(answer.text).toMatch(expected)
      expect(answer.text.toLowerCase()).toContain('x-request-id: ')
    }
  })

  it('cuts a client that takes longer than 10 s for its headers', { timeout: 30_000 }, async () => {
    const { raw } = await localServer()
    const startedAt = performance.now()
    const slow = raw('GET /v1/limits HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
    await slow.closed
    expect(slow.text).toMatch(/^HTTP\/1.1 408 /)
    expect(performance.now() - startedAt).toBeGreaterThan(9_000)
    expect(performance.now() - startedAt).toBeLessThan(14_000)
  })

  it('survives a thousand clients that hang up at any byte of a request', async () => {
    const { server, get } = await localServer()
    const request = streamRequest(events)
    for (let round = 0; round < 20; round += 1) {
      const hangUps = Array.from({ length: 50 }, (_, index) => hangUp(server.port, request, (round * 50 + index) % 160))
      await Promise.all(hangUps)
    }
    await nextTurn()
    expect((await get('/v1/limits')).status).toBe(200)
  })
})

/** What buffers hold once garbage is gone. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().arrayBuffers
}

async function hangUp(port: number, request: string, bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  await new Promise((resolve) => {
    socket.write(request.slice(0, bytes + 1), resolve)
  })
  socket.resetAndDestroy()
}

/** Hangs up after so many bytes, and tells the ids of the whole frames among them. */
async function idsBefore({ socket, closed }: Raw, bytes: number): Promise<number[]> {
  let text = ''
  socket.removeAllListeners('data')
  socket.on('data', (chunk: string) => {
    text += chunk
    if (text.length < bytes) return
    text = text.slice(0, bytes)
    socket.resetAndDestroy()
  })
  const ended = new Promise<void>((resolve) => {
    socket.on('data', () => {
      if (text.endsWith('0\r\n\r\n')) resolve()
    })
  })
  await Promise.race([closed, ended])
  socket.destroy()
  return idsOf(dechunked(text))
}

/** The body of a chunked answer, as far as it came. */
function dechunked(text: string): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4)
  let body = ''
  for (let header = /^([0-9a-f]+)\r\n/.exec(rest); header; header = /^([0-9a-f]+)\r\n/.exec(rest)) {
    const length = Number.parseInt(header[1] ?? '', 16)
    const start = header[0].length
    body += rest.slice(start, start + length)
    rest = rest.slice(start + length + 2)
  }
  return body
}
