import { serve } from '@hono/node-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AttachItem,
  type Client,
  type ClientOptions,
  createClient,
  createThreadView,
  isHoldfastError,
  reduceView,
  type ThreadEvent,
} from '../../src/client/index.ts'
import { createHandler, createRuntime, echoAgent } from '../../src/index.ts'
import { onEachServer, onSharedServer } from './harness/on-each-server.ts'
import { logOf, resultsOf, snapshotOf, spawnScript, taskOf } from './harness/reads.ts'
import { type Relay, startRelay } from './harness/relay.ts'
import type { TestServer } from './harness/server.ts'

const transports = ['websocket', 'sse'] as const

function clientOf(url: string, server: TestServer, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url, token: server.tokens['alice'] ?? '', ...options })
  onTestFinished(() => client.close())
  return client
}

async function connect(
  server: TestServer,
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; relay: Relay; notices: string[] }> {
  const relay = await startRelay(() => server.url)
  const notices: string[] = []
  const client = clientOf(relay.url, server, { onNotice: ({ code }) => void notices.push(code), ...options })
  return { client, relay, notices }
}

const isEvent = (item: AttachItem): item is ThreadEvent => 'seq' in item

/** Many short ops: each is a step, so that a killed run goes on. */
const ticking = Array.from({ length: 60 }, (_, op) => ({ emit: 'tick', payload: { op }, times: 5, everyMs: 1 }))

onEachServer(['sqlite'], (_kind, start) => {
  it.for(transports)('EVNT-06 an attachment over %s survives kill -9 without a repeat or a gap', async (transport) => {
    const server = await start()
    const { client, notices } = await connect(server, { transport })
    // At its end it waits to be told, so that it is not over before it is killed.
    const script = [...ticking, { receive: {} }]
    const run = await client.run('t', { agent: 'script', input: { script } })
    const seen: ThreadEvent[] = []
    const kills = [3, 60, 150]
    for await (const item of client.thread('t').attach({ after: 0 })) {
      if (!isEvent(item)) throw new Error(`A ${item.type} came to a log that is whole`)
      seen.push(item)
      if (item.seq >= (kills[0] ?? Number.POSITIVE_INFINITY)) {
        kills.shift()
        await server.restart()
        if (kills.length === 0) await client.send(run.id, { content: 'go' })
      }
      if (item.task === run.id && item.type === 'task.completed') break
    }
    expect(seen).toEqual(await logOf(server, 't'))
    expect(kills).toEqual([])
    expect(seen.map(({ type }) => type)).toContain('task.resumed')
    expect(notices).toContain('reconnecting')
    expect(notices).toContain('reconnected')
  })

  it.for(transports)('EVNT-06 a view over %s is that of the server, whenever it was killed', async (transport) => {
    const server = await start()
    const { client } = await connect(server, { transport })
    const say = Array.from({ length: 40 }, (_, op) => [{ say: `${op} ` }, { sleepMs: 2 }]).flat()
    const run = await client.run('t', { agent: 'script', input: { script: [{ receive: {} }, ...say] } })
    const queued = await client.run('t', { agent: 'echo', prompt: 'later' })
    let view = createThreadView()
    let kills = 2
    for await (const item of client.thread('t').attach()) {
      // It begins when it is watched.
      if (view.head === 0) await client.send(run.id, { content: 'go' })
      view = reduceView(view, item)
      if (isEvent(item) && item.type === 'text.delta' && kills > 0) {
        kills -= 1
        await server.restart()
      }
      if (isEvent(item) && item.task === queued.id && item.type === 'task.completed') break
    }
    const snapshot = { type: 'snapshot', ...(await client.snapshot('t')) } as const
    expect(view).toEqual(reduceView(createThreadView(), snapshot))
    expect(view.messages).toHaveLength(4)
  })

  it.for(transports)('a task is waited for over %s, whatever happens to the server', async (transport) => {
    const server = await start()
    const { client } = await connect(server, { transport })
    const script = [{ say: 'a' }, { sleepMs: 700 }, { return: { kept: true } }]
    const run = await client.run<'script'>('t', { agent: 'script', input: { script } })
    const ended = client.wait(run)
    await server.restart()
    expect(await ended).toMatchObject({ id: run.id, status: 'completed', result: { kept: true } })
    expect(await client.wait(run.id)).toEqual(await taskOf(server, run.id))
  })

  it.for(transports)('a drain is come back from over %s, on the same transport', async (transport) => {
    const server = await start({ env: { HOLDFAST_SHUTDOWN_MS: '1' } })
    const { client, notices } = await connect(server, { transport })
    const items = client.thread('t').attach({ after: 0 })
    const first = items.next()
    await client.run('t', { agent: 'echo', prompt: 'one' })
    expect((await first).value).toMatchObject({ seq: 1 })
    await server.stop()
    await server.start()
    const run = await client.run('t', { agent: 'echo', prompt: 'two' })
    const seen = [1]
    for await (const item of items) {
      if (isEvent(item)) seen.push(item.seq)
      if (isEvent(item) && item.task === run.id && item.type === 'task.completed') break
    }
    expect(seen).toEqual((await logOf(server, 't')).map(({ seq }) => seq))
    expect(notices).not.toContain('fell_back')
  })

  it('a run whose answer is lost is accepted once', async () => {
    const server = await start()
    const { client, relay } = await connect(server)
    relay.breakAfter([0, 20, 100])
    const run = await client.run('t', { agent: 'echo', prompt: 'once' })
    await client.wait(run)
    expect((await client.list({ thread: 't' })).tasks.map(({ id }) => id)).toEqual([run.id])
    expect(relay.count).toBeGreaterThan(3)
  })

  it('a log that is shorter than it was is said to be, and gone on with', async () => {
    const server = await start()
    const { client } = await connect(server)
    await client.wait(await client.run('t', { agent: 'echo', prompt: 'a' }))
    const items = client.thread('t').attach({ after: 100 })
    expect((await items.next()).value).toMatchObject({ type: 'notice', code: 'offset_ahead', after: 100 })
    expect((await items.next()).value).toMatchObject({ type: 'snapshot' })
    await client.deleteThread('t')
    const behind = client.thread('t').attach({ after: 0 })
    expect((await behind.next()).value).toMatchObject({ type: 'notice', code: 'offset_gone', after: 0 })
    const { value } = await behind.next()
    const run = await client.run('t', { agent: 'echo', prompt: 'b' })
    for (const log of [items, behind]) {
      const { head } = value as { head: number }
      const next = (await log.next()).value
      expect(next).toMatchObject({ seq: head + 1, type: 'task.accepted', task: run.id })
    }
  })
})

onSharedServer(['memory'], (_kind, server) => {
  it.for(transports)('EVNT-06 a log is whole over %s, wherever its connections break', async (transport) => {
    const { client, relay } = await connect(server(), { transport })
    const thread = `broken-${transport}`
    // From the first on: a connection that was left open by a request carries others later.
    relay.breakAfter([20, 2000, 0, 1, 777, 1500, 2000, 150, 4096, 5000, 900])
    const run = await client.run(thread, { agent: 'script', input: { script: ticking.slice(0, 20) } })
    const seen: ThreadEvent[] = []
    for await (const item of client.thread(thread).attach({ after: 0, task: run.id }))
      if (isEvent(item)) seen.push(item)
    expect(seen).toEqual(await logOf(server(), thread))
    expect(relay.count).toBeGreaterThan(5)
  })

  it('every call is answered', async () => {
    const client = clientOf(server().url, server())
    const thread = client.thread('calls')
    const task = await spawnScript(server(), 'calls', [{ receive: {} }, { return: 7 }], { name: 'reader' })
    expect(await client.send(task.id, { content: 'hi' })).toMatch(/./)
    expect(await client.wait(task.id)).toMatchObject({ result: 7, status: 'completed' })
    expect(await thread.results()).toEqual(await resultsOf(server(), 'calls'))
    expect(await thread.collect([task.id, 'bg_999'])).toEqual([task.id])
    const hanging = await thread.run({ agent: 'script', input: { script: [{ hang: true }] } })
    expect(await client.get(hanging.id)).toMatchObject({ id: hanging.id })
    expect(await thread.cancel({ scope: 'all' })).toEqual([hanging.id])
    expect(await client.wait(hanging)).toMatchObject({ status: 'cancelled' })
    expect(await client.cancel(hanging.id)).toEqual([])
    expect((await client.list({ thread: 'calls', limit: 1 })).cursor).toMatch(/./)
    expect((await client.threads()).threads.map((each) => each.thread)).toContain('calls')
    expect((await thread.snapshot()).head).toBe((await snapshotOf(server(), 'calls')).head)
    expect((await thread.messages()).messages).toHaveLength(2)
    expect((await thread.events({ types: ['task.completed'] })).events).toHaveLength(1)
    expect(await client.questions()).toEqual([])
    expect((await client.agents()).map(({ name }) => name)).toContain('echo')
    expect((await client.limits()).eventBytes).toBeGreaterThan(0)
    expect(await client.health()).toEqual({ status: 'ok' })
    expect(await client.ready()).toMatchObject({ status: 'ready', store: 'memory' })
    expect(await client.metrics()).toContain('holdfast_streams')
    expect(await client.openapi()).toMatchObject({ openapi: '3.1.0' })
    expect(await client.prune({ threadsMs: 86_400_000 })).toEqual({ threads: 0, events: 0, tasks: 0 })
    await thread.delete()
    expect((await thread.snapshot()).messages).toEqual([])
    const anonymous = createClient({ url: server().url })
    expect(await anonymous.login({ token: server().tokens['alice'] ?? '' })).toEqual({ principal: 'alice' })
    await client.logout()
  })

  it('the firehose gives what happens in all threads', async () => {
    const client = clientOf(server().url, server())
    const items = client.firehose({ types: ['task.completed'] })
    const next = items.next()
    // The stream is open once one of them was seen.
    const runs = []
    let isSeen = false
    void next.then(() => {
      isSeen = true
    })
    while (!isSeen) runs.push(await client.wait(await client.run('fire', { agent: 'echo', prompt: 'x' })))
    expect(runs.map(({ id }) => id)).toContain(
      (await next).value?.type === 'missed' ? '' : ((await next).value as ThreadEvent).task,
    )
    await items.return?.()
  })

  it.for(transports)('what is refused has the code of the server, over %s', async (transport) => {
    const client = clientOf(server().url, server(), { transport })
    const codeOf = async (doing: Promise<unknown>) => {
      const error = await doing.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return isHoldfastError(error) ? [error.code, typeof error.facts['requestId']] : error
    }
    expect(await codeOf(client.run('t', { agent: 'nobody', prompt: 'x' }))).toEqual(['unknown_agent', 'string'])
    expect(await codeOf(client.get('bg_999'))).toEqual(['not_found', 'string'])
    expect(await codeOf(client.answer('q', 1))).toEqual(['not_found', 'string'])
    const attach = (of: Client, task?: string) =>
      codeOf(
        of
          .thread('t')
          .attach({ after: 0, ...(task !== undefined && { task }) })
          .next(),
      )
    expect(await attach(client, 'bg_999')).toEqual(['not_found', 'string'])
    const stranger = clientOf(server().url, server(), { transport, token: 'wrong' })
    expect(await attach(stranger)).toEqual(['unauthenticated', 'string'])
  })
})

describe('a server without WebSockets', () => {
  it('is followed by SSE, under whatever path it is mounted', async () => {
    const runtime = createRuntime({ store: 'memory:', agents: { echo: echoAgent() } })
    const handler = createHandler(runtime, { basePath: '/holdfast', tokens: { owner: 'secret' } })
    const server = serve({ fetch: (request) => handler(request), hostname: '127.0.0.1', port: 0 })
    await new Promise((resolve) => {
      server.once('listening', resolve)
    })
    onTestFinished(async () => {
      await runtime.close({ drainMs: 0 })
      server.close()
    })
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const notices: string[] = []
    const onNotice = ({ code }: { readonly code: string }) => void notices.push(code)
    const client = createClient({ url: `http://127.0.0.1:${port}/holdfast`, token: 'secret', onNotice })
    const run = await client.run('t', { agent: 'echo', prompt: 'hi' })
    const types: string[] = []
    for await (const item of client.thread('t').attach({ after: 0, task: run.id })) types.push(item.type)
    expect(types.at(-1)).toBe('task.completed')
    expect(notices).toContain('fell_back')
    client.close()
  })
})
