import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRuntime, type ServeOptions, type Server, serve } from '../../src/index.ts'
import { authorization, getRequest, localServer, type Raw, streamRequest } from './harness/local-server.ts'

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
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a length that is none', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: nan\r\n\r\n'],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n'],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['a path that goes up', 'GET /v1/threads/../events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'],
    ['one that does so escaped', 'GET /v1/threads/%2E%2e/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['a backslash in its path', 'GET /a\\b HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'],
    ['a host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
  ])('answers what is no HTTP with a 4xx, closes, and goes on: %s', async (_title, text) => {
    const { raw, get } = await localServer()
    const malformed = raw(text)
    await malformed.closed
    expect(malformed.text).toMatch(/^HTTP\/1.1 4\d\d /)
    expect(malformed.text).toMatch(/x-request-id: .+\r\n/)
    expect(malformed.text).toMatch(/x-holdfast-node: node_.+\r\n/)
    expect(malformed.text).toMatch(/"code":"(invalid_request|too_large|forbidden_origin)"/)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it.each(['example.org:443', '127.0.0.1:1', '/v1/tasks'])('is no way to %s for CONNECT, and says so', async (to) => {
    const { raw, get } = await localServer()
    const asked = raw(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\nX-Request-Id: mine\r\n\r\nand more`)
    await asked.closed
    expect(asked.text).toMatch(/^HTTP\/1.1 405 Method Not Allowed\r\n/)
    expect(asked.text).toMatch(/allow: GET, HEAD, POST, DELETE\r\n/)
    expect(asked.text).toMatch(/x-request-id: mine\r\n/)
    expect(asked.text).toMatch(/x-holdfast-node: node_.+\r\n/)
    expect(asked.text).toMatch(/content-type: application\/problem\+json\r\n/)
    expect(asked.text).toMatch(/"code":"method_not_allowed"/)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it.each([
    ['that is too large', `Authorization: ${authorization.authorization}`, 413],
    ['of somebody unknown', 'X: y', 401],
  ])('answers a body %s also to a client that sends all of it before it reads', async (_title, header, status) => {
    const { server, get } = await localServer()
    const length = 32 * 1024 * 1024
    const head = `POST /v1/threads/t/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}\r\nContent-Length: ${length}\r\n\r\n`
    const socket = connect(server.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    await new Promise((resolve, reject) => {
      socket.on('error', reject).write(head)
      socket.write(Buffer.alloc(length, 'x'), resolve)
    })
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    await once(socket, 'close')
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toMatch(/connection: close\r\n/i)
    expect((await get('/v1/limits')).status).toBe(200)
  })

  it('cuts a client off that never ends a body which was refused', async () => {
    const { server } = await localServer()
    const socket = connect(server.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    // How it learns of it is up to the machine.
    const closed = new Promise((resolve) => void socket.on('error', () => {}).on('close', resolve))
    socket.write('POST /v1/threads/t/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000), Buffer.from('\r\n')])
    const send = (): void => void (socket.writable && socket.write(chunk, send))
    send()
    socket.resume()
    await closed
    expect(socket.bytesWritten).toBeGreaterThan(64 * 0x100000)
  })

  it('answers what it is expected to do as it answers everything', async () => {
    const { raw } = await localServer()
    const expecting = raw('GET /v1/limits HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: tea\r\nConnection: close\r\n\r\n')
    await expecting.closed
    expect(expecting.text).toMatch(/^HTTP\/1.1 401 /)
    expect(expecting.text).toMatch(/x-holdfast-node: node_.+\r\n/)
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

  it('cuts a client that takes longer than 10 s for its headers', async () => {
    const { raw } = await localServer()
    const startedAt = performance.now()
    const slow = raw('GET /v1/limits HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
    await slow.closed
    expect(slow.text).toMatch(/^HTTP\/1.1 400 /)
    expect(performance.now() - startedAt).toBeGreaterThan(9_000)
  })

  it('survives a thousand clients that hang up at any byte of a request', async () => {
    const { server, get } = await localServer()
    const request = streamRequest('/v1/threads/t/events')
    for (let round = 0; round < 20; round += 1) {
      const hangUps = Array.from({ length: 50 }, (_, index) => hangUp(server.port, request, (round * 50 + index) % 160))
      await Promise.all(hangUps)
    }
    await nextTurn()
    expect((await get('/v1/limits')).status).toBe(200)
  })
})

describe('a server that is given no token', () => {
  it.each([{}, { tokens: {} }])(
    'makes one for owner, keeps it, and tells a login link on stderr: %o',
    async (options) => {
      const stateFolder = join(temporaryFolder(), 'state')
      const told = stderrText()
      const [first, second] = [await started({ stateFolder, ...options }), await started({ stateFolder, ...options })]
      const file = join(stateFolder, 'token')
      const token = readFileSync(file, 'utf8').trim()
      expect(statSync(file).mode & 0o777).toBe(0o600)
      for (const { url } of [first, second]) {
        const headers = { authorization: `Bearer ${token}` }
        expect((await fetch(`${url}/v1/limits`, { headers })).status).toBe(200)
        expect((await fetch(`${url}/v1/limits`)).status).toBe(401)
      }
      expect(told()).not.toContain(token)
      const [, link, code] = /(http\S+)\/console#login=(\S+)\n/.exec(told()) ?? []
      expect(link).toBe(first.url)
      const login = await fetch(`${first.url}/v1/login`, { method: 'POST', body: JSON.stringify({ code }) })
      expect(await login.json()).toEqual({ principal: 'owner' })
    },
  )

  it('does not start where others can reach it, and makes none', async () => {
    const stateFolder = join(temporaryFolder(), 'state')
    const starting = started({ stateFolder, host: '0.0.0.0' })
    await expect(starting).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('Others can reach 0.0.0.0. '),
    })
    expect(statSync(stateFolder, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('makes none where the program around it says who is asking', async () => {
    const stateFolder = join(temporaryFolder(), 'state')
    const { url } = await started({ stateFolder, authenticate: () => 'alice' })
    expect((await fetch(`${url}/v1/limits`)).status).toBe(200)
    expect(statSync(stateFolder, { throwIfNoEntry: false })).toBeUndefined()
  })
})

async function started(options: ServeOptions): Promise<Server> {
  const runtime = createRuntime({ store: 'memory:' })
  onTestFinished(() => runtime.close())
  const server = await serve(runtime, { port: 0, handlesSignals: false, ...options })
  onTestFinished(() => server.close())
  return server
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What is written to stderr from now on. */
function stderrText(): () => string {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  return () => write.mock.calls.map(([text]) => String(text)).join('')
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
