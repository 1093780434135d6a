// Streams by bare NOTIFY and SELECT, to compare with. Given: the URL of the server, the schema, `writes` or `serves`. The one that
// writes gathers events while a commit is under way, inserts them as rows of the log, one per stream, and tells after the commit,
// over another connection. The one that serves listens, reads what is new in the streams it is told of, and sends it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { answerParent } from '../server/child.ts'
import { sharedNow } from '../server/shared-clock.ts'
import { payload } from '../sqlite-load.ts'
import { Pace } from './pace.ts'

interface Going {
  readonly channel: number
  readonly count: number
  readonly everyMs: number
}

const insert = `
  INSERT INTO chunks (thread, first, last, at, body)
  SELECT x.thread, x.first, x.last, $5, x.body
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS x (thread, first, last, body)`

const select = `
  SELECT c.thread, c.last, c.body FROM unnest($1::bigint[], $2::bigint[]) AS w (thread, after)
  JOIN chunks c ON c.thread = w.thread AND c.first > w.after ORDER BY c.thread, c.first`

const [url = '', schema = '', role] = process.argv.slice(2)
const connect = async (settings = '') => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`SET search_path = ${schema}; SET enable_seqscan = off; ${settings}`)
  return client
}
const main = await connect()
const noticing = await connect('SET synchronous_commit = off')

const heads = new Map<number, number>()
let gathered = new Map<number, string[]>()
let isWriting = false

async function write(): Promise<void> {
  if (isWriting) return
  isWriting = true
  while (gathered.size > 0) {
    const batch = [...gathered]
    gathered = new Map()
    const threads = batch.map(([thread]) => thread)
    const firsts = threads.map((thread) => (heads.get(thread) ?? 0) + 1)
    const lasts = batch.map(([, lines], n) => (firsts[n] ?? 0) + lines.length - 1)
    const bodies = batch.map(([, lines]) => lines.join('\n'))
    await main.query({ name: 'insert', text: insert, values: [threads, firsts, lasts, bodies, Date.now()] })
    for (const [n, thread] of threads.entries()) heads.set(thread, lasts[n] ?? 0)
    for (const thread of threads) untold.add(thread)
    void notify()
  }
  isWriting = false
}

const untold = new Set<number>()
let isTelling = false

async function notify(): Promise<void> {
  if (isTelling) return
  isTelling = true
  while (untold.size > 0) {
    const text = [...untold].join(' ')
    untold.clear()
    await noticing.query({ name: 'notify', text: `SELECT pg_notify('bare', $1)`, values: [text] })
  }
  isTelling = false
}

function emit(channel: number, type: string, data: object): void {
  const line = JSON.stringify({ task: `bg_${channel}`, type, data })
  gathered.set(channel, [...(gathered.get(channel) ?? []), line])
  void write()
}

async function go({ channel, count, everyMs }: Going): Promise<void> {
  const pace = new Pace(everyMs)
  for (let n = 0; n < count; n++) {
    await pace.next()
    emit(channel, 'custom', { name: payload.name, payload: { sentAt: sharedNow() } })
  }
  emit(channel, 'task.completed', {})
}

const streams = new Map<number, { response: ServerResponse; seq: number }>()
const told = new Set<number>()
let isReading = false

async function read(): Promise<void> {
  if (isReading) return
  isReading = true
  while (told.size > 0) {
    const known = [...told].filter((thread) => streams.has(thread))
    told.clear()
    const values = [known, known.map((thread) => streams.get(thread)?.seq ?? 0)]
    const { rows } = await main.query<{ thread: string; last: string; body: string }>({
      name: 'select',
      text: select,
      values,
    })
    for (const { thread, last, body } of rows) {
      const stream = streams.get(Number(thread))
      if (!stream) continue
      stream.seq = Number(last)
      stream.response.write(
        body
          .split('\n')
          .map((line) => `id: ${last}\ndata: ${line}\n\n`)
          .join(''),
      )
    }
  }
  isReading = false
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what, channel] = (request.url ?? '').split('/')
  if (what === 'events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 1000\n\n')
    streams.set(Number(channel), { response, seq: 0 })
    return
  }
  let text = ''
  for await (const chunk of request) text += String(chunk)
  response.writeHead(202)
  response.end('{}')
  await go(JSON.parse(text) as Going)
}

if (role === 'serves') {
  noticing.on('notification', ({ payload: text = '' }) => {
    for (const thread of text.split(' ')) told.add(Number(thread))
    void read()
  })
  await noticing.query('LISTEN bare')
}
const server = createServer((request, response) => void handle(request, response))
server.listen(0, '127.0.0.1')
await once(server, 'listening')
answerParent({ url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
