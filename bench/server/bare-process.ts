// Bare servers to compare with: SSE by node:http, naive (one write per event) and joined (one write per millisecond), a
// server that sends bytes it has, and one that stores a row per request in groups.

import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { bareDatabase } from '../bare-database.ts'
import { answerParent } from './child.ts'
import { sharedNow } from './shared-clock.ts'

interface Going {
  readonly channel: string
  readonly mode: 'naive' | 'joined'
  readonly perSecond?: number
  readonly count: number
}

// An agent that emits gives way to others now and then; a source that never did would only measure its own buffers.
// Naive gives way after each event: what is written within one turn, Node joins by itself.
const eventsPerTurn = 20
const pendingBytesMax = 1_048_576

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

let frames: Buffer[] = []
let body = Buffer.alloc(0)
const channels = new Map<string, ServerResponse[]>()

function subscribe(channel: string, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' })
  response.write('retry: 1000\n\n')
  channels.set(channel, [...(channels.get(channel) ?? []), response])
}

async function write(responses: readonly ServerResponse[], bytes: string | Buffer): Promise<void> {
  let slow: ServerResponse | undefined
  for (const response of responses) if (!response.write(bytes)) slow = response
  if (slow?.writableNeedDrain) await once(slow, 'drain')
}

async function sendNaive(responses: readonly ServerResponse[], count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await write(responses, frames[n] as Buffer)
    await nextTurn()
  }
}

async function sendJoined(responses: readonly ServerResponse[], count: number): Promise<void> {
  let pending: Buffer[] = []
  let bytes = 0
  let isOver = false
  const flushing = (async () => {
    while (!isOver || pending.length > 0) {
      await sleep(1)
      const joined = Buffer.concat(pending)
      pending = []
      bytes = 0
      if (joined.length > 0) await write(responses, joined)
    }
  })()
  for (let n = 0; n < count; n++) {
    pending.push(frames[n] as Buffer)
    bytes += frames[n]?.length ?? 0
    if (n % eventsPerTurn === 0) await nextTurn()
    while (bytes > pendingBytesMax) await nextTurn()
  }
  isOver = true
  await flushing
}

async function sendPaced(responses: readonly ServerResponse[], count: number, perSecond: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const sentAt = sharedNow()
    const data = JSON.stringify({ type: 'custom', data: { name: 'tick', payload: { sentAt } } })
    await write(responses, `id: ${n}\ndata: ${data}\n\n`)
    await sleep(1000 / perSecond)
  }
}

async function go({ channel, mode, count, perSecond }: Going): Promise<void> {
  const responses = channels.get(channel) ?? []
  const last = frames.at(-1) as Buffer
  if (perSecond !== undefined) await sendPaced(responses, count, perSecond)
  else if (mode === 'naive') await sendNaive(responses, count)
  else await sendJoined(responses, count)
  for (const response of responses) response.end(last)
  channels.delete(channel)
}

const database = bareDatabase(join(folder, 'bare.db'))
database.exec('CREATE TABLE requests (n INTEGER PRIMARY KEY, body TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO requests (body) VALUES (?)')
let group: { body: string; response: ServerResponse }[] = []

function store(text: string, response: ServerResponse): void {
  if (group.length === 0) setImmediate(commit)
  group.push({ body: text, response })
}

function commit(): void {
  const requests = group
  group = []
  database.exec('BEGIN IMMEDIATE')
  for (const request of requests) insert.run(request.body)
  database.exec('COMMIT')
  for (const { response } of requests) {
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end('{"id":"bg_1","status":"running"}')
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what, channel = ''] = (request.url ?? '').split('/')
  if (what === 'events') return subscribe(channel, response)
  if (what === 'replay') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(channel === 'half' ? body.subarray(body.length / 2) : body)
    return
  }
  const text = await textOf(request)
  if (what === 'rows') return store(text, response)
  response.writeHead(202)
  response.end()
  await go(JSON.parse(text) as Going)
}

const server = createServer((request, response) => void handle(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answerParent({
  url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  /** The frames of a run, as Holdfast sent them. */
  load({ file }: { file: string }) {
    body = readFileSync(file)
    frames = body
      .toString()
      .split('\n\n')
      .filter((frame) => frame.startsWith('id: '))
      .map((frame) => Buffer.from(`${frame}\n\n`))
    return frames.length
  },
})
