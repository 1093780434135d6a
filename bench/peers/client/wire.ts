// The one client of all peers: raw sockets for streams, because a client that parses would be what is measured, and node:http with
// kept connections for the rest.

import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface WireRequest {
  readonly url: string
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const agent = new Agent({ keepAlive: true, maxSockets: 1024 })
const bodyEnd = Buffer.from('\r\n0\r\n\r\n')

/** Sends a request and reads its answer; one that is refused is an error. */
export async function send(wanted: WireRequest): Promise<string> {
  const { url, path, method = 'POST', headers, body } = wanted
  const text = body === undefined ? '' : JSON.stringify(body)
  const sent = request(`${url}${path}`, {
    method,
    agent,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
  })
  sent.end(text)
  let response: IncomingMessage
  try {
    ;[response] = (await once(sent, 'response')) as [IncomingMessage]
  } catch (error) {
    // A server closes a kept connection after some idle seconds, and may do so just as it is taken up again.
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return send(wanted)
    throw error
  }
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const answer = Buffer.concat(chunks).toString()
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${path}: ${response.statusCode} ${answer.slice(0, 300)}`)
  return answer
}

/** One subscription on a socket of its own, read until a marker is in it or the response ends. */
export class Stream {
  /** The response has begun. */
  readonly open: Promise<void>
  /** The marker was seen, or, if it may also end so, the response ended. */
  readonly done: Promise<void>
  readonly #socket: Socket
  readonly #marker: Buffer
  #tail: Buffer = Buffer.alloc(0)
  #onData: ((chunk: Buffer) => void) | undefined

  constructor(wanted: WireRequest, marker: string, options: { endsWithResponse?: boolean } = {}) {
    const { hostname, port } = new URL(wanted.url)
    const [opened, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const fail = (error: Error) => {
      opened.reject(error)
      done.reject(error)
    }
    this.open = opened.promise
    this.done = done.promise
    this.open.catch(() => undefined)
    this.done.catch(() => undefined)
    this.#marker = Buffer.from(marker)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.write(head(wanted))
    this.#socket.on('error', fail)
    this.#socket.on('close', () => fail(new Error(`${wanted.path} was closed`)))
    let isFirst = true
    this.#socket.on('data', (chunk: Buffer) => {
      if (isFirst && !chunk.subarray(0, 12).toString().startsWith('HTTP/1.1 20')) {
        return fail(new Error(`${wanted.path}: ${chunk.subarray(0, 600)}`))
      }
      isFirst = false
      opened.resolve()
      this.#onData?.(chunk)
      if (this.#has(this.#marker, chunk)) done.resolve()
      else if (chunk.subarray(-bodyEnd.length).includes('0\r\n\r\n')) {
        if (options.endsWithResponse) done.resolve()
        else done.reject(new Error(`${wanted.path} ended without its last event`))
      }
      this.#tail = chunk.subarray(-this.#marker.length)
    })
  }

  /** From now on hands every chunk over as well. */
  tap(onData: (chunk: Buffer) => void): void {
    this.#onData = onData
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #has(marker: Buffer, chunk: Buffer): boolean {
    if (chunk.includes(marker)) return true
    return Buffer.concat([this.#tail, chunk.subarray(0, marker.length)]).includes(marker)
  }
}

function head({ url, path, method = 'GET', headers, body }: WireRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = Object.entries({
    host: new URL(url).host,
    accept: 'text/event-stream',
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

/** Opens streams, a hundred at a time, and resolves when all have begun. */
export async function openAll(wanted: readonly WireRequest[], marker: string): Promise<Stream[]> {
  const streams: Stream[] = []
  for (let first = 0; first < wanted.length; first += 100) {
    const some = wanted.slice(first, first + 100).map((one) => new Stream(one, marker))
    await Promise.all(some.map(({ open }) => open))
    streams.push(...some)
  }
  return streams
}
