import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { Event } from '../../core/event.ts'
import { digestOf, type Transport } from '../history/entry.ts'
import { Socket } from '../load/socket.ts'

/** A stream that costs whoever holds it next to nothing while nothing happens. */
export interface IdleStream {
  readonly transport: Transport
  /** Numbers and digests, in the order in which they came. */
  readonly events: readonly (readonly [seq: number, digest: string])[]
  /** Whether the other side has closed it. */
  readonly isOver: boolean
  close(): void
}

interface Place {
  readonly url: string
  readonly token: string
  readonly thread: string
}

const timeoutMs = 30_000

/** Resolves once a node has taken it. Rejects if it did not. */
export function openIdleStream(transport: Transport, place: Place): Promise<IdleStream> {
  return transport === 'ws' ? overSocket(place) : overSse(place)
}

async function overSse({ url, token, thread }: Place): Promise<IdleStream> {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'last-event-id': '0' }
  const request = get(`${url}/v1/threads/${thread}/events`, { headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // Whoever is cut off sees it in what came.
  request.on('error', () => {})
  if (response.statusCode !== 200) throw new Error(`An idle stream was answered ${response.statusCode}`)
  const stream = { transport: 'sse' as const, events: [] as [number, string][], isOver: false }
  const parser = createParser({ onEvent: ({ data }) => stream.events.push(entryOf(JSON.parse(data) as Event)) })
  response.setEncoding('utf8').on('data', (text: string) => parser.feed(text))
  response.on('error', () => {})
  response.on('close', () => {
    stream.isOver = true
  })
  return Object.assign(stream, { close: () => request.destroy() })
}

async function overSocket({ url, token, thread }: Place): Promise<IdleStream> {
  const socket = await Socket.open(url, token, timeoutMs)
  const stream = { transport: 'ws' as const, events: [] as [number, string][], isOver: false }
  const attached = Promise.withResolvers<void>()
  void socket.closed.then(() => {
    stream.isOver = true
    attached.reject(new Error('An idle socket was closed'))
  })
  socket.follow({ type: 'attach', thread, after: 0 }, ({ type, event, problem }) => {
    if (type === 'attached') attached.resolve()
    if (event) stream.events.push(entryOf(event))
    if (problem) attached.reject(new Error(`An idle attachment was refused as ${problem.code}`))
  })
  await attached.promise
  return Object.assign(stream, { close: () => socket.drop() })
}

function entryOf(event: Event): [number, string] {
  return [event.seq, digestOf(event)]
}
