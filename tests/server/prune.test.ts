import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { type AttachItem, createClient, type ThreadEvent } from '../../src/client/index.ts'
import { connect, expectStatus, isEndOf, transports, watch } from './harness/client.ts'
import { onEachServer } from './harness/on-each-server.ts'
import { read, scriptRun, snapshotOf, spawnScript, taskOf } from './harness/reads.ts'
import type { TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'

interface Pruned {
  readonly threads: number
  readonly events: number
  readonly tasks: number
  readonly cursor?: string
}

function prune(server: TestServer, body: object): Promise<Pruned> {
  return expectStatus(200, server.request<Pruned>('POST', '/v1/prune', { body, as: 'alice' }))
}

async function answered(server: TestServer, thread: string, prompt: string, as = 'alice'): Promise<string> {
  const client = await connect('sse', server, as)
  const { id, seq } = await client.run(thread, { agent: 'echo', prompt })
  const watcher = await client.watch({ thread, after: seq })
  await watcher.until(isEndOf(id))
  client.drop()
  return id
}

/** A thread without who watches it, of which one that left may still be counted. */
async function contentOf(server: TestServer, thread: string, as = 'alice') {
  const { watchers: _watchers, ...content } = await snapshotOf(server, thread, as)
  return content
}

// More than all that lies between a server and a reader that reads nothing.
const loadCount = 400
const load = scriptRun([{ emit: 'load', payload: { pad: 'x'.repeat(64 * 1024) }, times: loadCount }])

async function loaded(server: TestServer): Promise<void> {
  const client = await connect('sse', server)
  const { id } = await client.run('t', load)
  await (await client.watch({ thread: 't', task: id, types: 'none' })).ended
  client.drop()
  await answered(server, 't', 'last')
}

/** A stream that is not read until it is told to; then to its end. */
async function unread(server: TestServer, accept: string): Promise<() => Promise<number[]>> {
  const headers = { ...server.authorization(), accept }
  const request = get(`${server.url}/v1/threads/t/events`, { headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.pause()
  return async () => {
    let text = ''
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece.replaceAll(/x{9,}/g, '')
    })
    response.resume()
    await once(response, 'end')
    return [...text.matchAll(/^(?:data: )?{"thread":"t","seq":(\d+)/gm)].map(([, digits]) => Number(digits))
  }
}

onEachServer(['memory', 'sqlite'], (_kind, start) => {
  it.for(transports)('a start that was trimmed is refused over %s with the first that is kept', async (transport) => {
    const server = await start()
    const old = await answered(server, 't', 'a')
    await answered(server, 't', 'b')
    const before = await contentOf(server, 't')
    const watcher = await watch(transport, server, { thread: 't', after: before.head })
    const { events, ...others } = await prune(server, { eventsPerThread: 1 })
    expect(others).toEqual({ threads: 0, tasks: 0 })
    const { first } = await snapshotOf(server, 't')
    expect(first).toBe(events + 1)
    expect(await contentOf(server, 't')).toEqual({ ...before, first })
    const gone = { code: 'offset_gone', status: 410, problem: { first } }
    for (const options of [{ after: 0 }, { after: first - 2 }, { after: 0, task: old }]) {
      await expect(watch(transport, server, { thread: 't', ...options })).rejects.toMatchObject(gone)
    }
    const next = await answered(server, 't', 'c')
    expect((await watcher.until(isEndOf(next))).map(({ seq }) => seq)[0]).toBe(before.head + 1)
    watcher.close()
    expect(await taskOf(server, old)).toMatchObject({ status: 'completed' })
  })

  it('a page and a stream of lines that begin before the first are refused, and what is gone of a task is over', async () => {
    const server = await start()
    const old = await answered(server, 't', 'a')
    await answered(server, 't', 'b')
    await prune(server, { eventsPerThread: 1 })
    const { first, head } = await snapshotOf(server, 't')
    const problem = { status: 410, body: { code: 'offset_gone', first } }
    const path = '/v1/threads/t/events'
    for (const accept of ['application/json', 'application/x-ndjson', 'text/event-stream']) {
      expect(await server.request('GET', path, { headers: { accept } })).toMatchObject(problem)
    }
    const id = { 'last-event-id': '1', accept: 'text/event-stream' }
    expect(await server.request('GET', `${path}?after=${head}`, { headers: id })).toMatchObject(problem)
    const rest = `${path}?task=${old}&after=${first - 1}`
    expect(await read(server, rest)).toEqual({ events: [], head, next: head })
    const lines = await server.request('GET', rest, { headers: { accept: 'application/x-ndjson' } })
    expect(lines).toMatchObject({ status: 200, text: '' })
    const frames = await server.request('GET', rest, { headers: { accept: 'text/event-stream' } })
    expect(frames.status).toBe(204)
  })

  it.for(['text/event-stream', 'application/x-ndjson'])(
    'a stream of %s whose reader is behind ends without a hole, and is refused when it comes back',
    async (accept) => {
      const server = await start()
      await loaded(server)
      const readRest = await unread(server, accept)
      await prune(server, { eventsPerThread: 1 })
      const seqs = await readRest()
      expect(seqs).toEqual(seqs.map((_, n) => n + 1))
      expect(seqs.length).toBeGreaterThan(0)
      expect(seqs.length).toBeLessThan(loadCount)
      const headers = { accept, 'last-event-id': String(seqs.at(-1)) }
      const back = await server.request('GET', '/v1/threads/t/events', { headers })
      expect(back).toMatchObject({ status: 410, body: { code: 'offset_gone' } })
    },
  )

  it('an attachment whose reader is behind ends without a hole and with an error, and its socket stays open', async () => {
    const server = await start()
    await loaded(server)
    const socket = await Socket.open(server)
    const seqs: number[] = []
    await socket.ask({ type: 'attach', thread: 't', after: 0 })
    socket.pause()
    await prune(server, { eventsPerThread: 1 })
    socket.resume()
    const { problem } = await socket.until(({ type }) => type === 'error')
    for (const { event } of socket.frames) if (event) seqs.push(event.seq)
    const { first } = await snapshotOf(server, 't')
    expect(problem).toMatchObject({ code: 'offset_gone', status: 410, first })
    expect(seqs).toEqual(seqs.map((_, n) => n + 1))
    expect(seqs.length).toBeLessThan(loadCount)
    expect(await socket.ask({ type: 'ping' })).toMatchObject({ type: 'pong' })
    socket.drop()
  })

  it.for(transports)('a client that fell behind over %s says so and goes on from a snapshot', async (transport) => {
    const server = await start()
    await loaded(server)
    const token = server.tokens['alice'] ?? ''
    const client = createClient({ url: server.url, token, transport: transport === 'ws' ? 'websocket' : 'sse' })
    const items = client.thread('t').attach({ after: 0 })
    const seen: AttachItem[] = [(await items.next()).value ?? fail()]
    await client.prune({ eventsPerThread: 1 })
    for await (const item of items) {
      seen.push(item)
      if (item.type === 'snapshot') break
    }
    const seqs = seen.flatMap((item) => ('seq' in item ? [item.seq] : []))
    expect(seqs).toEqual(seqs.map((_, n) => n + 1))
    const [notice, snapshot] = seen.slice(-2)
    expect(notice).toMatchObject({ type: 'notice', code: 'offset_gone', after: seqs.at(-1) })
    const { head, messages } = await snapshotOf(server, 't')
    expect(snapshot).toMatchObject({ type: 'snapshot', head, messages })
    const after = client.thread('t').attach({ after: head })
    const next = after.next()
    await client.run('t', { agent: 'echo', prompt: 'again' })
    expect(((await next).value as ThreadEvent).seq).toBe(head + 1)
    client.close()
  })

  it('a prune takes the threads of who asks, and no live task, untaken result or other principal', async () => {
    const server = await start()
    await answered(server, 'old', 'a')
    const hanging = await spawnScript(server, 'live', [{ say: 'on' }, { hang: true }])
    const waiting = await spawnScript(server, 'result', [{ return: 7 }])
    const watcher = await watch('sse', server, { thread: 'result', task: waiting.id })
    await watcher.ended
    await answered(server, 'old', 'b', 'bob')
    const bobs = await contentOf(server, 'old', 'bob')
    const { head } = await snapshotOf(server, 'old')
    const would = await prune(server, { threadsMs: 1, eventsMs: 1, dryRun: true })
    expect(would).toEqual({ threads: 1, events: head, tasks: 1 })
    expect((await snapshotOf(server, 'old')).first).toBe(1)
    expect(await prune(server, { threadsMs: 1, eventsMs: 1 })).toEqual(would)
    expect(await snapshotOf(server, 'old')).toMatchObject({ head, first: head + 1, messages: [], tasks: [] })
    for (const thread of ['live', 'result']) expect((await snapshotOf(server, thread)).first).toBe(1)
    expect(await taskOf(server, hanging.id)).toMatchObject({ status: 'running' })
    expect(await contentOf(server, 'old', 'bob')).toEqual(bobs)
  })

  it('a prune that cannot be is refused with what is wrong', async () => {
    const server = await start()
    for (const body of [{}, { dryRun: true }, { eventsMs: 0 }, { threadsMs: '7d' }, { eventsMs: 1, thread: 't' }]) {
      const answer = await server.request('POST', '/v1/prune', { body })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{}] } })
    }
    const cursor = { body: { eventsMs: 1, cursor: 'none' } }
    expect(await server.request('POST', '/v1/prune', cursor)).toMatchObject({ status: 400 })
    expect(await server.request('POST', '/v1/prune', { body: { eventsMs: 1 }, as: '' })).toMatchObject({ status: 401 })
    expect(await server.request('GET', '/v1/prune')).toMatchObject({ status: 405 })
  })
})

function fail(): never {
  throw new Error('There is an item')
}
