import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createRuntime,
  type SignedWebhookOptions,
  signedWebhook,
  type Task,
  verifyWebhook,
} from '../../../src/index.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

interface Received {
  readonly request: IncomingMessage
  readonly body: string
}

/** A receiver on loopback. */
async function receiver(answer: (response: ServerResponse, received: Received) => void) {
  const received: Received[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const each = { request, body: await text(request) }
    received.push(each)
    answer(response, each)
  }
  const server = createServer((request, response) => {
    receive(request, response).catch((error: Error) => response.destroy(error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { received, port, url: `http://127.0.0.1:${port}/hook?from=holdfast` }
}

const ended = { id: 'bg_0', thread: 't', status: 'completed', result: { said: 'hé 💥' } } as unknown as Task

function call(options: SignedWebhookOptions, signal = new AbortController().signal): Promise<unknown> {
  return signedWebhook(options)(ended, { signal, attempt: 1, key: 'bg_0.ended.5' }) as Promise<unknown>
}

describe('a signed webhook', () => {
  it('posts the task that ended, so that its receiver can tell who sent it', async () => {
    const { received, url } = await receiver((response) => response.end())
    const onEnded = signedWebhook({ url, secret, allowPrivate: true })
    const told = Promise.withResolvers<void>()
    const runtime = createRuntime({
      store: 'memory:',
      onEnded: async (task, about) => {
        await onEnded(task, about)
        told.resolve()
      },
    })
    onTestFinished(() => runtime.close())
    const { id } = await runtime.spawn({ thread: 't', run: () => ({ said: 'hé 💥' }) })
    await told.promise
    const [{ request, body }] = received as [Received]
    expect(JSON.parse(body)).toMatchObject({ id, thread: 't', status: 'completed', result: { said: 'hé 💥' } })
    expect(JSON.parse(body)).not.toHaveProperty('hook')
    expect([request.method, request.url]).toEqual(['POST', '/hook?from=holdfast'])
    expect(request.headers['content-type']).toBe('application/json')
    expect(request.headers['webhook-id']).toMatch(new RegExp(`^${id}\\.ended\\.\\d+$`))
    expect(verifyWebhook(request.headers, body, { secret })).toBe(true)
    expect(verifyWebhook(new Headers(request.headers as Record<string, string>), body, { secret })).toBe(true)
  })

  it.each([301, 302, 307, 400, 401, 500, 503])(
    'fails when it is answered with %i, and follows no redirect',
    async (status) => {
      const { received, url } = await receiver((response) =>
        response.writeHead(status, { location: '/elsewhere' }).end(),
      )
      await expect(call({ url, secret, allowPrivate: true })).rejects.toThrow(`answered with ${status}`)
      expect(received).toHaveLength(1)
    },
  )

  it('fails when it is not answered in time, and stops when it is told to', async () => {
    const { url } = await receiver(() => {})
    await expect(call({ url, secret, allowPrivate: true, timeoutMs: 20 })).rejects.toThrow('within 20 ms')
    const stop = new AbortController()
    const { url: other } = await receiver(() => stop.abort())
    await expect(call({ url: other, secret, allowPrivate: true }, stop.signal)).rejects.toThrow(/ABORT_ERR|aborted/)
  })

  it('does not wait for a body without an end', async () => {
    const { url } = await receiver((response) => response.writeHead(200).write('x'.repeat(100)))
    await expect(call({ url, secret, allowPrivate: true })).resolves.toBeUndefined()
  })

  it.each([
    'http://127.0.0.1',
    'http://0x7f.1',
    'http://2130706433',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
  ])('refuses to connect to %s', async (origin) => {
    const { received, port } = await receiver((response) => response.end())
    await expect(call({ url: `${origin}:${port}/`, secret })).rejects.toThrow('not public')
    expect(received).toEqual([])
  })

  it('refuses a name of which one address is private', async () => {
    const { received, port } = await receiver((response) => response.end())
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    await expect(call({ url: `http://hooks.example:${port}/`, secret, resolve })).rejects.toThrow('not public')
    expect(received).toEqual([])
  })

  it('connects to the address that was checked, and asks for it once', async () => {
    const { received, port } = await receiver((response) => response.end())
    const asked: string[] = []
    const resolve = async (name: string) => {
      asked.push(name)
      return [{ address: asked.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    }
    await call({ url: `http://hooks.example:${port}/`, secret, resolve, allowPrivate: true })
    expect(asked).toEqual(['hooks.example'])
    expect(received[0]?.request.headers.host).toBe(`hooks.example:${port}`)
  })

  it('tells no address of our network when it cannot connect', async () => {
    const refused = call({ url: 'http://127.0.0.1:1/', secret, allowPrivate: true })
    await expect(refused).rejects.toThrow(/^The webhook could not be reached \(ECONNREFUSED\)$/)
  })

  it.each([
    [{ url: 'ftp://a.example/', secret }, 'http or https'],
    [{ url: 'nonsense', secret }, 'http or https'],
    [{ url: 'https://me:pw@a.example/', secret }, 'no password'],
    [{ url: 'https://a.example/', secret: 'short' }, 'at least 16 bytes'],
    [{ url: 'https://a.example/', secret: 'whsec_c2hvcnQ=' }, 'at least 16 bytes'],
  ])('cannot be made of %j', (options, message) => {
    expect(() => signedWebhook(options)).toThrow(message)
  })
})

describe('the signature of a webhook', () => {
  // The example of the Standard Webhooks specification.
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const body = '{"test": 2432232314}'
  const now = 1614265330_000

  it('is that of Standard Webhooks', () => {
    expect(verifyWebhook(headers, body, { secret, now })).toBe(true)
    const several = `v1,AAAA v2,x ${headers['webhook-signature']}`
    expect(verifyWebhook({ ...headers, 'webhook-signature': several }, body, { secret, now })).toBe(true)
  })

  it.each([
    ['another body', headers, `${body} `, {}],
    ['another id', { ...headers, 'webhook-id': 'msg_1' }, body, {}],
    ['another instant', { ...headers, 'webhook-timestamp': '1614265331' }, body, {}],
    ['another secret', headers, body, { secret: 'another-secret-of-16' }],
    ['no signature', { ...headers, 'webhook-signature': undefined }, body, {}],
    ['two signatures', { ...headers, 'webhook-signature': ['v1,a', 'v1,b'] }, body, {}],
    ['another scheme', { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') }, body, {}],
    ['half a signature', { ...headers, 'webhook-signature': 'v1,g0hM9SsE' }, body, {}],
    ['an instant that is none', { ...headers, 'webhook-timestamp': '1e9' }, body, {}],
    ['a body that was sent long ago', headers, body, { now: now + 300_001 }],
    ['a body of the future', headers, body, { now: now - 300_001 }],
  ])('does not fit %s', (_what, given, text, more) => {
    expect(verifyWebhook(given, text, { secret, now, ...more })).toBe(false)
  })
})
