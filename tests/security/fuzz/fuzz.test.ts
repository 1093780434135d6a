import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../../../src/chaos/hostile/launch.ts'
import { SeededRandom } from '../../../src/chaos/seeded-random.ts'
import { until } from '../../server/harness/local-server.ts'
import { scriptRun, snapshotOf } from '../../server/harness/reads.ts'
import type { Refused } from '../../server/harness/refused.ts'
import { startServer, type TestServer } from '../../server/harness/server.ts'
import { Socket } from '../../server/harness/socket.ts'
import { complaintOf, converse, inParallel } from './converse.ts'
import { fuzzedRequest, type OpenApi } from './http-requests.ts'
import { expectedOf, type Log, type Start, someStart } from './offsets.ts'
import type { Maker } from './schema-values.ts'
import { type FuzzedProgram, fuzzedProgram } from './script-programs.ts'
import { often, seed } from './seed.ts'
import { farewell, fuzzedFrames, fuzzedMessages, handshake, tornConversation } from './socket-bytes.ts'

const timeoutMs = 300_000 * Math.max(1, often(1))
const atOnce = 8
const mib = 1024 * 1024
// A heap that is allowed to grow does so before it is collected, which would look like something that is never let go.
const heapMibMax = 128
const grownMibMax = 128

let server: TestServer
let port = 0
let host = ''
let token = ''

beforeAll(async () => {
  console.log(`HOLDFAST_TEST_SEED=${seed}`)
  const env = { NODE_OPTIONS: `--max-old-space-size=${heapMibMax}`, HOLDFAST_GRACE_MS: '50' }
  server = await startServer({ store: 'sqlite', env })
  const url = new URL(server.url)
  ;[port, host, token] = [Number(url.port), url.host, server.tokens['alice'] ?? '']
}, timeoutMs)

afterAll(() => server.end())

/** What the server itself took for its own fault. */
function defects(): string[] {
  return server.stderr.filter((line) => !line.startsWith('{') || (JSON.parse(line) as { level: number }).level >= 50)
}

afterEach(async () => {
  expect({ seed, defects: defects() }).toEqual({ seed, defects: [] })
  expect((await server.request('GET', '/readyz')).status).toBe(200)
})

/** Of its own for each test, so that one can be had again without those before it. */
function makerOf(name: string, document?: OpenApi): Maker {
  const own = [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, seed)
  const ids = ['bg_0', 'bg_1', 'bg_2', 'bg_999999']
  return {
    random: new SeededRandom(own),
    wrongness: 0.1,
    resolve: (reference) => document?.components.schemas[reference.split('/').at(-1) ?? ''] ?? {},
    known: {
      ...{ thread: ['t', 'u', 'v'], agent: ['echo', 'script', 'nobody'], id: [...ids, 'q_0'], task: ids, parent: ids },
      ...{ tasks: [ids], question: ['q_0', 'q_1'], prompt: ['hello', ''], name: ['one', 'two'], timeoutMs: [1, 50] },
      ...{ input: [{ script: [{ say: 'hello' }] }, 1], onBusy: ['queue', 'steer', 'interrupt', 'reject'] },
      ...{ 'Idempotency-Key': ['one', 'two', 'three'], idempotencyKey: ['one', 'two'], after: [0, 1, 2] },
    },
  }
}

/** Always the same where the system does not tell. */
function residentBytes(): number {
  if (process.platform !== 'linux') return 0
  const [, kilobytes = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

describe('seeded fuzzing', () => {
  it(
    'of HTTP by the OpenAPI document finds no answer from 500 on, none that is not documented, and no growth',
    async () => {
      const document = (await server.request<OpenApi>('GET', '/openapi.json')).body
      const maker = makerOf('http', document)
      const complaints: string[] = []
      const counts = new Map<number, number>()
      const send = async (count: number) => {
        const requests = Array.from({ length: count }, () => fuzzedRequest(maker, document, host, token))
        await inParallel(requests, atOnce, async ({ what, bytes, isTorn, documented }) => {
          const conversation = await converse(bytes, port, { leaves: isTorn })
          complaints.push(...complaintOf(what, bytes, conversation))
          for (const status of conversation.statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
          const odd = conversation.statuses.filter((status) => documented && !documented.includes(status))
          const shown = bytes.toString('latin1').slice(0, 1000)
          if (odd.length > 0) complaints.push(`${what} is answered ${odd.join()}, which is not documented: ${shown}`)
        })
      }
      await send(often(200))
      const warmBytes = residentBytes()
      await send(often(600))
      expect({ seed, complaints }).toEqual({ seed, complaints: [] })
      // Most of what is sent is right enough to be looked at.
      for (const status of [200, 202, 204, 400, 401, 404, 405]) expect([...counts.keys()]).toContain(status)
      expect((residentBytes() - warmBytes) / mib).toBeLessThan(grownMibMax)
    },
    timeoutMs,
  )

  it(
    'of the start of a log finds no answer but those of the protocol, as SSE, NDJSON, page and WebSocket',
    async () => {
      await server.request('POST', '/v1/threads/log/runs', { body: scriptRun([{ emit: 'x', times: 60 }]) })
      await untilIdle()
      await server.request('POST', '/v1/prune', { body: { eventsPerThread: 30 } })
      const log: Log = await snapshotOf(server, 'log')
      expect(log.first).toBeGreaterThan(2)
      const { random } = makerOf('offsets')
      const starts = Array.from({ length: often(150) }, () => someStart(random, log))
      const accepts = ['text/event-stream', 'application/x-ndjson', 'application/json']
      await inParallel(starts, atOnce, async (start) => {
        const accept = random.pick(accepts) ?? ''
        expect({ seed, accept, start, ...(await startedAt(start, accept, log)) }).toMatchObject(wanted(start, log))
      })
      const socket = await Socket.open(server)
      for (const { after } of starts) {
        if (after.length !== 1) continue
        const start: Start = { after, lastEventId: [] }
        expect({ seed, start, ...(await attachedAt(socket, start, log)) }).toMatchObject(wanted(start, log))
      }
      socket.drop()
    },
    timeoutMs,
  )

  it(
    'of WebSocket messages, frames and bytes is answered or closed, never with an answer from 500 on',
    async () => {
      const maker = makerOf('websocket')
      const begin = handshake(host, token)
      const make = {
        messages: () => Buffer.concat([begin, fuzzedMessages(maker), farewell]),
        frames: () => Buffer.concat([begin, fuzzedFrames(maker), farewell]),
        bytes: () => tornConversation(maker, host, token),
      }
      const attacks = (Object.keys(make) as (keyof typeof make)[]).flatMap((what) =>
        Array.from({ length: often(150) }, () => ({ what, bytes: make[what]() })),
      )
      const complaints: string[] = []
      const answered = new Map<string, number>()
      await inParallel(attacks, atOnce, async ({ what, bytes }) => {
        // Frames that are whole are answered to the last, or the connection is closed for one of them.
        const conversation = await converse(bytes, port, { leaves: what !== 'messages', until: '"the last"' })
        complaints.push(...complaintOf(what, bytes, conversation))
        if (conversation.received.includes('"the last"')) answered.set(what, (answered.get(what) ?? 0) + 1)
      })
      expect({ seed, complaints }).toEqual({ seed, complaints: [] })
      expect(answered.get('messages')).toBeGreaterThan(often(90))
    },
    timeoutMs,
  )

  it(
    'of scripts finds none that does not end, by itself or when it is cancelled, and none that is answered from 500 on',
    async () => {
      const maker = makerOf('scripts')
      const programs = Array.from({ length: often(80) }, (_, place) => ({ place, ...fuzzedProgram(maker) }))
      const statuses = new Map<string, number>()
      await inParallel(programs, atOnce, async (program) => {
        const status = await endOf(program)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
      for (const status of ['completed', 'failed', 'cancelled']) expect([...statuses.keys()]).toContain(status)
      await untilIdle()
      const { body } = await server.request<{ tasks: unknown[] }>('GET', '/v1/tasks?status=pending,running&limit=10')
      expect({ seed, left: body.tasks }).toEqual({ seed, left: [] })
    },
    timeoutMs,
  )

  it('leaves no stream open', async () => {
    const streams = async () => {
      const { text } = await server.request('GET', '/metrics')
      return /^holdfast_streams(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1]
    }
    // That a reader hung up is noticed a moment later.
    await until(async () => (await streams()) === '0')
  })
})

/** Runs a program in a thread of its own, cancels it if it may wait, and answers with how it ended. */
async function endOf({ place, script, mayWait }: FuzzedProgram & { readonly place: number }): Promise<string> {
  const thread = `script-${place}`
  const body = { agent: 'script', input: { script } }
  const accepted = await server.request<{ id: string }>('POST', `/v1/threads/${thread}/runs`, { body })
  if (accepted.status !== 202) {
    const { status, text } = accepted
    expect({ seed, script, text, isRefusal: status >= 400 && status < 500 }).toMatchObject({ isRefusal: true })
    return 'refused'
  }
  const { id } = accepted.body
  if (mayWait) await server.request('POST', `/v1/tasks/${id}/cancel`, { body: {} })
  const headers = { accept: 'application/x-ndjson' }
  // Ends with the task; the test does not, if the task does not.
  await server.request('GET', `/v1/threads/${thread}/events?task=${id}&types=task.completed`, { headers })
  await server.request('POST', `/v1/threads/${thread}/cancel`, { body: { scope: 'all' } })
  return (await server.request<{ status: string }>('GET', `/v1/tasks/${id}`)).body.status
}

/** Cancels what is left of everybody's, and waits until it has ended. */
async function untilIdle(): Promise<void> {
  for (;;) {
    const path = '/v1/tasks?status=pending,running&limit=1000'
    const { body } = await server.request<{ tasks: { id: string; thread: string }[] }>('GET', path)
    const [task] = body.tasks
    if (!task) return
    await server.request('POST', `/v1/tasks/${task.id}/cancel`, { body: {} })
    const events = `/v1/threads/${task.thread}/events?task=${task.id}&types=task.cancelled`
    await server.request('GET', events, { headers: { accept: 'application/x-ndjson' } })
  }
}

interface Began {
  readonly code?: string
  readonly status?: number
  /** The first number that came. */
  readonly next?: number
}

function wanted(start: Start, log: Log): object {
  const expected = expectedOf(start, log)
  if ('code' in expected) return expected
  return expected.from === log.head ? { status: 200 } : { status: 200, next: expected.from + 1 }
}

async function startedAt({ after, lastEventId }: Start, accept: string, log: Log): Promise<Began> {
  const query = after.map((text) => `after=${encodeURIComponent(text)}`).join('&')
  const lines = [
    `GET /v1/threads/log/events?${query} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    `Accept: ${accept}`,
    ...lastEventId.map((text) => `Last-Event-ID: ${text}`),
  ]
  const isAtHead =
    'from' in (expectedOf({ after, lastEventId }, log) as object) && Number(lastEventId[0] ?? after[0]) === log.head
  const { received, statuses } = await launch(
    {
      what: 'offset',
      bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`),
      isOver: (text) => /"code":"|"seq":\d+,/.test(text) || (isAtHead && text.includes('\r\n\r\n')),
    },
    port,
  )
  const code = /"code":"(\w+)"/.exec(received)?.[1]
  const next = /"seq":(\d+),/.exec(received)?.[1]
  return {
    ...(statuses[0] !== undefined && { status: statuses[0] }),
    ...(code !== undefined && { code }),
    ...(next !== undefined && { next: Number(next) }),
  }
}

async function attachedAt(socket: Socket, { after }: Start, log: Log): Promise<Began> {
  const [text = ''] = after
  const number = Number(text)
  // What is no offset in digits is sent as the text that it is.
  const value =
    'from' in expectedOf({ after: [text], lastEventId: [] }, { ...log, first: 1, head: 2 ** 53 }) ? number : text
  const first = Promise.withResolvers<Began>()
  socket.follow({ type: 'attach', thread: 'log', after: value }, ({ type, problem, event, head }) => {
    if (type === 'error') first.resolve({ code: problem?.code ?? '', status: problem?.status ?? 0 })
    if (type === 'attached' && number === head) first.resolve({ status: 200 })
    if (type === 'event') first.resolve({ status: 200, next: event?.seq ?? 0 })
  })
  return first.promise.catch((refused: Refused) => ({ code: refused.code }))
}
