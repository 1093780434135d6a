// The HTTP around a peer that is a library and brings no server of its own: what its user would write with node:http. One route
// accepts a run, one streams its events as SSE, one write per event as the library hands them over, one cancels.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Work } from './work.ts'

export interface Host {
  /** Accepts a run, and answers once it is accepted as firmly as this peer can. */
  accept(id: string, work: Work): Promise<void>
  /** Writes the run's events from `after` on until the run or the connection ends; `open` begins the response. */
  stream(id: string, after: number, open: () => Sse): Promise<void>
  /** Accepts a run and streams it in one request, where that is this peer's way. */
  acceptAndStream?(id: string, work: Work, open: () => Sse): Promise<void>
  cancel?(id: string): Promise<void>
}

/** One response that streams. */
export class Sse {
  readonly closed: Promise<void>
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
    this.closed = new Promise((resolve) => response.once('close', resolve))
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' })
    response.write(': open\n\n')
  }

  get isClosed(): boolean {
    return this.#response.destroyed
  }

  send(data: unknown): Promise<void> | undefined {
    return this.sendText(`data: ${JSON.stringify(data)}\n\n`)
  }

  /** Resolves when there is room again; undefined when there is. */
  sendText(text: string): Promise<void> | undefined {
    if (this.#response.write(text) || this.isClosed) return undefined
    return Promise.race([once(this.#response, 'drain').then(() => undefined), this.closed])
  }

  end(): void {
    this.#response.end()
  }
}

async function bodyOf(request: IncomingMessage): Promise<Work> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Work
}

async function handle(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const [, what, id = ''] = pathname.split('/')
  const open = () => new Sse(response)
  if (what === 'events') return host.stream(id, Number(searchParams.get('after') ?? 0), open)
  if (what === 'streamed') return host.acceptAndStream?.(id, await bodyOf(request), open)
  if (what === 'runs') await host.accept(id, await bodyOf(request))
  else if (what === 'cancel') await host.cancel?.(id)
  response.writeHead(202, { 'content-type': 'application/json' })
  response.end(`{"id":"${id}"}`)
}

/** Serves on a free port and tells its URL. */
export async function serveHost(host: Host): Promise<string> {
  const server = createServer((request, response) => {
    handle(host, request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else response.writeHead(500).end(String(error))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
