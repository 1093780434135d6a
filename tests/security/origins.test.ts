import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../../src/chaos/hostile/launch.ts'
import { createRuntime, type Server, serve } from '../../src/index.ts'
import { tokens } from './harness/site.ts'
import { type OriginRow, originTable, type Setting, settings } from './origin-table.ts'

interface Transport {
  readonly request: string
  readonly lines: readonly string[]
  readonly body?: string
  /** What it is answered with if nothing is wrong. */
  readonly status: number
}

const authorization = `Authorization: Bearer ${tokens.carol}`
const login = JSON.stringify({ token: tokens.carol })

const transports: Readonly<Record<string, Transport>> = {
  HTTP: { request: 'GET /v1/limits', lines: [authorization], status: 200 },
  'HTTP with a body': {
    request: 'POST /v1/threads/t/cancel',
    lines: [authorization, 'Content-Type: text/plain', 'Content-Length: 2'],
    body: '{}',
    status: 200,
  },
  'a login': { request: 'POST /v1/login', lines: [`Content-Length: ${login.length}`], body: login, status: 200 },
  SSE: { request: 'GET /v1/threads/t/events', lines: [authorization, 'Accept: text/event-stream'], status: 200 },
  NDJSON: { request: 'GET /v1/threads/t/events', lines: [authorization, 'Accept: application/x-ndjson'], status: 200 },
  'the live events of all threads': { request: 'GET /v1/events', lines: [authorization], status: 200 },
  'a path that there is not': { request: 'GET /no/such/path', lines: [authorization], status: 404 },
  // Who is wrong in both is told of the host and origin alone.
  'a wrong token': { request: 'GET /v1/limits', lines: ['Authorization: Bearer wrong'], status: 401 },
  'the console': { request: 'GET /console', lines: [], status: 200 },
  WebSocket: {
    request: 'GET /v1/ws',
    lines: [
      authorization,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ],
    status: 101,
  },
}

function suite(setting: Setting): void {
  let server: Server
  beforeAll(async () => {
    const runtime = createRuntime({ store: 'memory:' })
    server = await serve(runtime, { ...settings[setting], tokens, port: 0, handlesSignals: false, shutdownMs: 0 })
  })
  afterAll(() => server.close())

  const send = async ({ request, lines, body = '' }: Transport, row: OriginRow, version = '1.1') => {
    const host = row.lines.map((line) => line.replaceAll('PORT', String(server.port)))
    const head = [`${request} HTTP/${version}`, ...host, ...lines, '', body].join('\r\n')
    const { statuses, received } = await launch({ what: row.what, bytes: Buffer.from(head) }, server.port)
    return { status: statuses[0], head: received.slice(0, received.indexOf('\r\n\r\n')).toLowerCase() }
  }

  it.each(originTable[setting])('$what: answered $isAnswered', async (row) => {
    for (const [name, transport] of Object.entries(transports)) {
      const { status, head } = await send(transport, row)
      // Where the console is not built, its page says so.
      const isLetIn = status === transport.status || (name === 'the console' && status === 404)
      expect([name, row.isAnswered ? isLetIn : status]).toEqual([name, row.isAnswered || 403])
      // Of a WebSocket the server alone decides; no browser asks for this there.
      const isShared = row.isShared === true && name !== 'WebSocket'
      expect([name, head.includes('access-control-allow-origin')]).toEqual([name, isShared])
    }
  })

  it('a request of HTTP/1.0 is held to the same, and so is one that names its host in the target', async () => {
    const transport = transports['HTTP'] as Transport
    for (const row of originTable[setting]) {
      const { status } = await send(transport, row, '1.0')
      if (!row.isAnswered) expect([row.what, status]).toEqual([row.what, 403])
    }
    for (const target of ['http://localhost', 'http://127.0.0.1', 'http://app.example']) {
      const asked = { ...transport, request: `GET ${target}/v1/limits` }
      const row: OriginRow = { what: target, lines: ['Host: rebound.example'], isAnswered: false }
      expect([target, (await send(asked, row)).status]).toEqual([target, 403])
    }
  })

  it('a preflight is answered only for a configured origin', async () => {
    const lines = ['Access-Control-Request-Method: POST']
    const preflight: Transport = { request: 'OPTIONS /v1/threads/t/runs', lines, status: 204 }
    for (const row of originTable[setting]) {
      const { status, head } = await send(preflight, row)
      const isAllowed = row.isAnswered && row.isShared === true
      expect([row.what, status === 204]).toEqual([row.what, isAllowed])
      expect([row.what, head.includes('access-control-allow-methods')]).toEqual([row.what, isAllowed])
    }
  })

  it('the probes answer whatever host and origin they are asked with', async () => {
    const probe: Transport = { request: 'GET /healthz', lines: [], status: 200 }
    for (const row of originTable[setting]) {
      const { status, head } = await send(probe, row)
      expect([row.what, status]).toEqual([row.what, 200])
      expect([row.what, head.includes('access-control-allow-origin')]).toEqual([row.what, row.isShared === true])
    }
  })
}

describe.each(Object.keys(settings) as Setting[])('a server that is %s', suite)
