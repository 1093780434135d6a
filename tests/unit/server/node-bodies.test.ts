import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { openSite, type TestSite, tokens } from './site.ts'

const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** A request as Node's parser makes it, on a socket that is not connected; the test gives it its body. */
function incomingMessage(): IncomingMessage {
  const socket = new Socket()
  sockets.push(socket)
  const incoming = new IncomingMessage(socket)
  incoming.httpVersionMajor = 1
  return incoming
}

function finish(incoming: IncomingMessage): void {
  incoming.complete = true
  incoming.push(null)
}

function post(site: TestSite, incoming: IncomingMessage, body?: string): Promise<Response> {
  const request = new Request('http://127.0.0.1:4747/v1/threads/t/runs', {
    method: 'POST',
    headers: { host: '127.0.0.1:4747', authorization: `Bearer ${tokens.alice}` },
    ...(body !== undefined && { body }),
  })
  return Promise.resolve(site.app.fetch(request, { incoming }))
}

describe('a body that Node receives', () => {
  it('is read from Node itself, in whatever pieces it comes', async () => {
    const site = await openSite()
    const incoming = incomingMessage()
    const answering = post(site, incoming)
    const bytes = Buffer.from(JSON.stringify({ agent: 'echo', prompt: 'grün' }))
    for (const byte of bytes) incoming.push(Buffer.from([byte]))
    finish(incoming)
    const answer = await answering
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ description: 'grün' })
    expect(incoming.listenerCount('data')).toBe(0)
  })

  it('may be empty', async () => {
    const site = await openSite()
    const incoming = incomingMessage()
    finish(incoming)
    expect((await post(site, incoming)).status).toBe(400)
  })

  it('is not read on once it is too large, and the connection is not used again', async () => {
    const site = await openSite({ limits: { bodyBytes: 100 } })
    const incoming = incomingMessage()
    const answering = post(site, incoming)
    for (let n = 0; n < 10; n += 1) incoming.push(Buffer.alloc(60, 'x'))
    const answer = await answering
    expect(answer.status).toBe(413)
    expect(answer.headers.get('connection')).toBe('close')
    await nextTurn()
    expect(incoming.readableLength).toBeGreaterThan(0)
    expect(incoming.isPaused()).toBe(true)
  })

  it('that breaks off is refused as incomplete, and is no defect', async () => {
    const site = await openSite()
    const incoming = incomingMessage()
    const answering = post(site, incoming)
    incoming.push('{"agent":')
    await nextTurn()
    incoming.destroy(new Error('ECONNRESET'))
    const answer = await answering
    expect(answer.status).toBe(400)
    expect(site.logged.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('is taken from the request where the program around has read it before', async () => {
    const site = await openSite()
    const incoming = incomingMessage()
    finish(incoming)
    incoming.resume()
    await nextTurn()
    const answer = await post(site, incoming, JSON.stringify({ agent: 'echo', prompt: 'x' }))
    expect(answer.status).toBe(202)
  })
})
