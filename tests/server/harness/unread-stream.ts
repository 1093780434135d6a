import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import { WebSocket } from 'ws'
import type { Event } from '../../../src/core/event.ts'
import type { Transport } from './client.ts'
import type { TestServer } from './server.ts'

/** A stream that its client has opened and does not read. */
export interface UnreadStream {
  /** Reads what is left in the line, until the other side's end of it: whole events alone. */
  readRest(): Promise<{ readonly events: readonly Event[]; readonly code?: number }>
  drop(): void
}

export function openUnread(transport: Transport, server: TestServer, thread: string): Promise<UnreadStream> {
  return transport === 'ws' ? openSocket(server, thread) : openSse(server, thread)
}

async function openSse(server: TestServer, thread: string): Promise<UnreadStream> {
  const headers = { ...server.authorization(), accept: 'text/event-stream' }
  // Without an agent the connection is its own.
  const request = get(`${server.url}/v1/threads/${thread}/events`, { headers, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.pause()
  // That the connection breaks is no failure here: `close` follows, and is waited for.
  response.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    response.on('close', () => resolve())
  })
  return {
    readRest: async () => {
      const events: Event[] = []
      const parser = createParser({ onEvent: ({ data }) => void events.push(JSON.parse(data) as Event) })
      response.setEncoding('utf8').on('data', (text: string) => parser.feed(text))
      response.resume()
      await closed
      return { events }
    },
    drop: () => request.destroy(),
  }
}

async function openSocket(server: TestServer, thread: string): Promise<UnreadStream> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/ws`, { headers: server.authorization() })
  socket.on('error', () => {})
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'attach', id: 'a', thread, after: 0 }))
  await once(socket, 'message')
  socket.pause()
  return {
    readRest: async () => {
      const events: Event[] = []
      const closed = once(socket, 'close')
      socket.on('message', (data) => {
        const frame = JSON.parse((data as Buffer).toString()) as { type: string; event?: Event }
        if (frame.event) events.push(frame.event)
      })
      socket.resume()
      const [code] = (await closed) as [number]
      return { events, code }
    },
    drop: () => socket.terminate(),
  }
}
