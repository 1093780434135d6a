import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createRuntime, type Runtime, scriptAgent } from '../../src/index.ts'
import { type ServeOptions, serve } from '../../src/server/index.ts'
import { Client } from '../unit/server/websocket/client.ts'

const tokens = { alice: 'token-of-alice', bob: 'token-of-bob' }
const hang = { script: [{ hang: true }] }

describe.each(['memory', 'sqlite'])('a WebSocket of a server on %s', (kind) => {
  const ends: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function start(options: ServeOptions = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
    ends.push(() => rm(folder, { recursive: true, force: true }))
    const store = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 'holdfast.db')}`
    const runtime: Runtime = createRuntime({ store, agents: { script: scriptAgent() } })
    const server = await serve(runtime, { port: 0, handlesSignals: false, shutdownMs: 0, tokens, ...options })
    ends.push(() => server.close())
    const url = `${server.url.replace('http', 'ws')}/v1/ws`
    const connect = (principal: keyof typeof tokens = 'alice') => Client.open(url, tokens[principal])
    return { server, runtime, url, connect }
  }

  it('runs, attaches, and sees the end', async () => {
    const { connect, server } = await start()
    const client = await connect()
    const script = [{ say: 'one ' }, { receive: {} }, { say: 'two' }]
    const accepted = await client.ask({ type: 'run', id: 1, thread: 't', agent: 'script', input: { script } })
    const { id: task } = accepted['task'] as { id: string }
    client.send({ type: 'attach', id: 2, thread: 't', task, after: 0 })
    await client.until(({ event }) => (event as { type?: string })?.type === 'text.delta')
    await client.ask({ type: 'send', id: 3, thread: 't', task, content: 'go on' })
    await client.until(({ type }) => type === 'end')
    const headers = { authorization: `Bearer ${tokens.alice}` }
    const page = await fetch(`${server.url}/v1/threads/t/events?limit=1000`, { headers })
    const { events } = (await page.json()) as { events: unknown[] }
    expect(client.frames.filter(({ type }) => type === 'event').map(({ event }) => event)).toEqual(events)
  })

  it('closes with 1001 when the server drains, and its tasks are as they were', async () => {
    const { connect, server, runtime } = await start()
    const client = await connect()
    const accepted = await client.ask({ type: 'run', id: 1, thread: 't', agent: 'script', input: hang })
    await client.ask({ type: 'attach', id: 2, thread: 't' })
    const closing = server.close()
    expect(await client.closed).toMatchObject({ code: 1001 })
    await closing
    expect(accepted).toMatchObject({ type: 'accepted' })
    expect(client.frames.some(({ event }) => /cancel|completed|failed/.test((event as { type: string })?.type))).toBe(
      false,
    )
    await expect(runtime.run({ thread: 't', agent: 'script', input: hang })).rejects.toThrow()
  })

  it('is found under the base path, and nowhere else', async () => {
    const { url, server } = await start({ basePath: '/agents' })
    expect(url).toContain('/agents/v1/ws')
    const client = await Client.open(url, tokens.alice)
    expect(await client.ask({ type: 'ping', id: 1 })).toEqual({ type: 'pong', id: 1 })
    for (const path of ['/v1/ws', '/agents/v1/wsx', '/agents/v1/ws/', '/agents/v1/threads/t']) {
      const wrong = `ws://127.0.0.1:${server.port}${path}`
      await expect(Client.open(wrong, tokens.alice)).rejects.toThrow(/Unexpected server response: (404|200)/)
    }
  })

  it('answers whoever asks for it without an upgrade', async () => {
    const { server } = await start()
    const headers = { authorization: `Bearer ${tokens.alice}` }
    const answer = await fetch(`${server.url}/v1/ws`, { headers })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'invalid_request' })
  })

  it('says the same to a foreign task as HTTP does, but for the request id', async () => {
    const { connect, server } = await start()
    const alice = await connect()
    const accepted = await alice.ask({ type: 'run', id: 1, thread: 't', agent: 'script', input: hang })
    const { id: task } = accepted['task'] as { id: string }
    const bob = await connect('bob')
    const { problem } = await bob.ask({ type: 'cancel', id: 1, thread: 't', task })
    const headers = { authorization: `Bearer ${tokens.bob}` }
    const answer = await fetch(`${server.url}/v1/tasks/${task}/cancel`, { method: 'POST', headers })
    const overHttp = (await answer.json()) as object
    expect({ ...(problem as object), requestId: '' }).toEqual({ ...overHttp, requestId: '' })
    await alice.ask({ type: 'cancel', id: 2, thread: 't' })
  })
})
