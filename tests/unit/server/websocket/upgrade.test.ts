import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { Client, turnUntil } from './client.ts'
import { servedOnEachStore } from './on-each-store.ts'
import { type Sockets, tokens } from './sockets-world.ts'

const key = 'AAAAAAAAAAAAAAAAAAAAAA=='
const encoded = (token: string) => `bearer.${Buffer.from(token).toString('base64url')}`

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Sends these bytes and reads the answer to its end. */
async function raw(sockets: Sockets, lines: readonly string[], rest = ''): Promise<Answer> {
  const socket = connect(sockets.port, '127.0.0.1')
  socket.write(`${lines.join('\r\n')}\r\n\r\n${rest}`)
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.startsWith('HTTP/1.1 101')) break
  }
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [first = '', ...fields] = head.split('\r\n')
  const headers = new Headers(fields.map((field) => field.split(': ') as [string, string]))
  return { status: Number(first.split(' ')[1]), headers, body }
}

function handshake(sockets: Sockets, changes: Readonly<Record<string, string | undefined>> = {}): string[] {
  const fields = {
    Host: `127.0.0.1:${sockets.port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': key,
    Authorization: `Bearer ${tokens.alice}`,
    ...changes,
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return ['GET /v1/ws HTTP/1.1', ...given.map(([name, value]) => `${name}: ${value}`)]
}

async function expectRefusal(answer: Answer, status: number, code: string): Promise<void> {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('x-holdfast-node')).toBe('node-1')
  const problem = JSON.parse(answer.body) as Record<string, unknown>
  expect(problem).toMatchObject({ type: `urn:holdfast:error:${code}`, status, code })
  expect(problem['requestId']).toBe(answer.headers.get('x-request-id'))
  expect(Number(answer.headers.get('content-length'))).toBe(Buffer.byteLength(answer.body))
}

describe('the upgrade to a WebSocket', () => {
  servedOnEachStore(['memory'], (serve) => {
    it('says who answers, and under which id', async () => {
      const { sockets } = await serve()
      const answer = await raw(sockets, handshake(sockets, { 'X-Request-Id': 'mine-1' }))
      expect(answer.status).toBe(101)
      expect(answer.headers.get('x-request-id')).toBe('mine-1')
      expect(answer.headers.get('x-holdfast-node')).toBe('node-1')
      expect(answer.headers.has('sec-websocket-protocol')).toBe(false)
    })

    it('takes a token as a subprotocol, and picks the other one', async () => {
      const { sockets } = await serve()
      for (const offered of [
        ['holdfast.v1', encoded(tokens.bob)],
        [encoded(tokens.bob), 'holdfast.v1'],
      ]) {
        const ws = new WebSocket(sockets.url, offered)
        await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject))
        expect(ws.protocol).toBe('holdfast.v1')
        ws.terminate()
      }
    })

    it('speaks holdfast.v1 to whoever offers it, and nothing else', async () => {
      const { sockets } = await serve()
      const both = await raw(sockets, handshake(sockets, { 'Sec-WebSocket-Protocol': 'other, holdfast.v1' }))
      expect([both.status, both.headers.get('sec-websocket-protocol')]).toEqual([101, 'holdfast.v1'])
      const other = await raw(sockets, handshake(sockets, { 'Sec-WebSocket-Protocol': 'other' }))
      expect([other.status, other.headers.get('sec-websocket-protocol')]).toEqual([101, null])
    })

    it('takes the cookie of a browser', async () => {
      const { sockets } = await serve()
      const { cookie } = sockets.parts.authentication.login({ token: tokens.bob }, { isSecure: false }) ?? {}
      const Cookie = cookie?.split(';')[0]
      const answer = await raw(sockets, handshake(sockets, { Authorization: undefined, Cookie }))
      expect(answer.status).toBe(101)
    })

    it('takes whom the program around it knows', async () => {
      const asked: string[] = []
      const { sockets } = await serve({
        authenticate: (request) => {
          asked.push(`${request.method} ${request.url} ${request.headers.get('x-user')}`)
          return request.headers.get('x-user') ?? undefined
        },
      })
      const known = await raw(sockets, handshake(sockets, { Authorization: undefined, 'X-User': 'carol' }))
      expect(known.status).toBe(101)
      expect(asked).toEqual([`GET http://127.0.0.1:${sockets.port}/v1/ws carol`])
      await expectRefusal(await raw(sockets, handshake(sockets, { Authorization: undefined })), 401, 'unauthenticated')
    })

    it.each([
      ['none', { Authorization: undefined }],
      ['a wrong token', { Authorization: 'Bearer nonsense' }],
      ['another scheme', { Authorization: `Basic ${tokens.alice}` }],
      ['a wrong subprotocol', { Authorization: undefined, 'Sec-WebSocket-Protocol': 'holdfast.v1, bearer.eA' }],
      ['a wrong cookie', { Authorization: undefined, Cookie: 'holdfast=YWxpY2U.99999999999999.AAAA' }],
    ])('answers 401 to credentials that are not right: %s', async (_what, changes) => {
      const { sockets } = await serve()
      const answer = await raw(sockets, handshake(sockets, changes))
      await expectRefusal(answer, 401, 'unauthenticated')
      expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      expect(sockets.webSockets.count).toBe(0)
    })

    it('takes no token from the query', async () => {
      const { sockets } = await serve()
      const lines = handshake(sockets, { Authorization: undefined })
      const query = `GET /v1/ws?token=${tokens.alice}&access_token=${tokens.alice} HTTP/1.1`
      await expectRefusal(await raw(sockets, [query, ...lines.slice(1)]), 401, 'unauthenticated')
    })

    it.each([
      ['a page elsewhere', { Origin: 'https://evil.example' }],
      ['an opaque origin', { Origin: 'null' }],
      ['a name that was made to mean this machine', { Host: 'evil.example' }],
      ['both', { Host: 'evil.example', Origin: 'http://evil.example' }],
    ])('answers 403 to %s', async (_what, changes) => {
      const { sockets } = await serve()
      await expectRefusal(await raw(sockets, handshake(sockets, changes)), 403, 'forbidden_origin')
    })

    it('answers pages of the same origin, and of configured ones', async () => {
      const { sockets } = await serve({ origins: ['https://console.example'] })
      for (const Origin of [`http://127.0.0.1:${sockets.port}`, 'https://console.example']) {
        expect((await raw(sockets, handshake(sockets, { Origin }))).status).toBe(101)
      }
    })

    it.each([
      ['another protocol', { Upgrade: 'h2c' }],
      ['no key', { 'Sec-WebSocket-Key': undefined }],
      ['a short key', { 'Sec-WebSocket-Key': 'AAAA' }],
      ['no version', { 'Sec-WebSocket-Version': undefined }],
      ['version 8, which hides the origin', { 'Sec-WebSocket-Version': '8' }],
      ['a broken list of subprotocols', { 'Sec-WebSocket-Protocol': 'a,,b' }],
      ['the same subprotocol twice', { 'Sec-WebSocket-Protocol': 'a, a' }],
    ])('answers 400 to what is no handshake: %s', async (_what, changes) => {
      const { sockets } = await serve()
      const answer = await raw(sockets, handshake(sockets, changes))
      await expectRefusal(answer, 400, 'invalid_request')
      expect(answer.headers.get('sec-websocket-version')).toBe('13')
      expect(sockets.parts.streams.count).toBe(0)
    })

    it('refuses a path that leads elsewhere by . or .., whoever asks', async () => {
      const { sockets } = await serve()
      for (const path of ['/v1/./ws', '/v1/threads/%2E%2e/ws']) {
        const [, ...fields] = handshake(sockets, { Authorization: undefined })
        await expectRefusal(await raw(sockets, [`GET ${path} HTTP/1.1`, ...fields]), 400, 'invalid_request')
      }
    })

    it('answers 405 to another method, whatever follows it', async () => {
      const { sockets } = await serve()
      const lines = ['POST /v1/ws HTTP/1.1', ...handshake(sockets, { 'Content-Length': '3' }).slice(1)]
      const answer = await raw(sockets, lines, 'abc'.repeat(10_000))
      await expectRefusal(answer, 405, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe('GET')
    })

    it.each(['/', '/v1/limits', '/v1/ws/', '/v1/wss?x=/v1/ws'])('answers 400 at any other path: %s', async (path) => {
      const { sockets } = await serve()
      const lines = [`GET ${path} HTTP/1.1`, ...handshake(sockets).slice(1)]
      await expectRefusal(await raw(sockets, lines), 400, 'invalid_request')
      expect(sockets.webSockets.count).toBe(0)
    })

    it.each(['//', 'http://[', '*', '/%', 'http://other.example/v1/ws'])(
      'survives the request target %s',
      async (target) => {
        const { sockets } = await serve()
        const lines = [`GET ${target} HTTP/1.1`, ...handshake(sockets).slice(1)]
        await expectRefusal(await raw(sockets, lines), 400, 'invalid_request')
        const client = await sockets.connect()
        expect(await client.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 })
      },
    )

    it('reads the frames that came along with the handshake', async () => {
      const { sockets } = await serve()
      const socket = connect(sockets.port, '127.0.0.1')
      const payload = Buffer.from('{"type":"ping","id":7}')
      const header = Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0])
      socket.write(Buffer.concat([Buffer.from(`${handshake(sockets).join('\r\n')}\r\n\r\n`), header, payload]))
      let text = ''
      socket.on('data', (chunk) => {
        text += String(chunk)
      })
      await turnUntil(() => text.includes('{"type":"pong","id":7}'))
      socket.destroy()
    })

    it('keeps no place for a client that left while it was made out who it is', async () => {
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<string>()
      const { sockets } = await serve({
        authenticate: () => {
          asked.resolve()
          return answer.promise
        },
      })
      const socket = connect(sockets.port, '127.0.0.1')
      socket.write(`${handshake(sockets, { Authorization: undefined }).join('\r\n')}\r\n\r\n`)
      await asked.promise
      socket.resetAndDestroy()
      await turnUntil(() => sockets.sockets[0]?.destroyed === true)
      answer.resolve('carol')
      await turnUntil(() => sockets.parts.streams.count === 0)
      expect(sockets.webSockets.count).toBe(0)
      const client = await Client.open(sockets.url, tokens.alice)
      client.ws.terminate()
    })
  })
})
