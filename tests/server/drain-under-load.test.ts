import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Event } from '../../src/core/event.ts'
import type { Task } from '../../src/core/task.ts'
import { connect, isEndOf, type Transport, transports, watch } from './harness/client.ts'
import { type Ledger, startLedger } from './harness/ledger.ts'
import { logOf, messagesOf, scriptRun, taskOf, textOf } from './harness/reads.ts'
import { startServer, type TestServer } from './harness/server.ts'
import { Socket } from './harness/socket.ts'
import type { Watcher } from './harness/tape.ts'

const runCount = 50

let ledger: Ledger
let server: TestServer

beforeEach(async () => {
  ledger = await startLedger()
  // Long enough that a loaded machine gets through what is looked at meanwhile.
  server = await startServer({ store: 'sqlite', env: { HOLDFAST_SHUTDOWN_MS: '10000' } })
})

afterEach(async () => {
  await server.end()
  await ledger.close()
})

/** A run on a thread of its own, and who watches it. */
interface Watched {
  readonly run: Task
  readonly transport: Transport
  readonly watcher: Watcher
}

/** Starts runs, half of which stop at the step `short` and half at `long`, with a stream attached to each. */
async function startLoad(): Promise<Watched[]> {
  ledger.hold('short')
  ledger.hold('long')
  const load = await Promise.all(Array.from({ length: runCount }, (_, index) => startOne(index)))
  await Promise.all([ledger.until('short', runCount / 2), ledger.until('long', runCount / 2)])
  return load
}

async function startOne(index: number): Promise<Watched> {
  const transport = transports[index % 2] ?? 'sse'
  const key = index < runCount / 2 ? 'short' : 'long'
  const step = (name: string) => ({ step: name, effect: ledger.url })
  const client = await connect(transport, server)
  const run = await client.run(`t${index}`, scriptRun([step('first'), { say: 'one ' }, step(key), { say: 'two' }]))
  const watcher = await watch(transport, server, { thread: run.thread })
  client.drop()
  return { run, transport, watcher }
}

async function untilDraining(): Promise<void> {
  while ((await server.request('GET', '/readyz')).status === 200);
}

/** Goes on reading where each stream broke off, to the end, and holds what came to the log. */
async function finishLoad(load: readonly Watched[]): Promise<void> {
  for (const { run, transport, watcher } of load) {
    const seen: Event[] = [...watcher.events]
    const rest = await watch(transport, server, { thread: run.thread, after: seen.at(-1)?.seq ?? 0 })
    if (!seen.some(isEndOf(run.id))) seen.push(...(await rest.until(isEndOf(run.id))))
    rest.close()
    expect(seen).toEqual(await logOf(server, run.thread))
    expect((await taskOf(server, run.id)).status).toBe('completed')
    expect(textOf((await messagesOf(server, run.thread)).at(-1))).toBe('one two')
  }
}

/** In which attempts the steps of this key were executed, over all tasks. */
function attemptsOf(key: string): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const effect of ledger.effects) {
    if (effect.key === key) counts[effect.attempt] = (counts[effect.attempt] ?? 0) + 1
  }
  return counts
}

it('REST-16 a drain under load refuses new work, ends streams, and hands over what does not finish', async () => {
  const load = await startLoad()
  const socket = await Socket.open(server)
  const ended = server.stop()
  await untilDraining()
  expect((await server.request('GET', '/healthz')).status).toBe(200)
  for (const route of ['runs', 'tasks']) {
    const answer = await server.request('POST', `/v1/threads/new/${route}`, { body: { agent: 'echo', prompt: 'late' } })
    expect(answer).toMatchObject({ status: 503, body: { code: 'draining' } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  await expect(Socket.open(server)).rejects.toThrow('503')
  expect(await socket.closed).toBe(1001)
  for (const { transport, watcher } of load) {
    expect(await watcher.ended).toEqual(transport === 'ws' ? { by: 'close', code: 1001 } : { by: 'end' })
  }
  expect((await server.request('GET', '/v1/threads/t0')).status).toBe(200)
  ledger.release('short')
  expect(await ended).toEqual({ code: 0, signal: null })

  await server.start()
  await finishLoad(load)
  expect(attemptsOf('first')).toEqual({ 1: runCount })
  expect(attemptsOf('short')).toEqual({ 1: runCount / 2 })
  expect(attemptsOf('long')).toEqual({ 1: runCount / 2, 2: runCount / 2 })
  expect((await server.request<{ head: number }>('GET', '/v1/threads/new')).body.head).toBe(0)
})

it('a second signal ends it at once, and is as safe as a crash', async () => {
  const load = await startLoad()
  server.signal('SIGTERM')
  await untilDraining()
  expect(await server.stop()).toEqual({ code: 1, signal: null })

  await server.start()
  await finishLoad(load)
  expect(attemptsOf('first')).toEqual({ 1: runCount })
  for (const key of ['short', 'long']) expect(attemptsOf(key)).toEqual({ 1: runCount / 2, 2: runCount / 2 })
})
