import { HoldfastError } from '../core/errors.ts'
import type { ThreadSnapshot } from '../core/thread-snapshot.ts'
import type { ClientNotice } from './asks.ts'
import { Attachment, type AttachmentOptions, type AttachmentParts } from './attachment.ts'
import { type ClientClock, systemClock } from './clock.ts'
import { ConnectionMonitor } from './connection.ts'
import { eventSource } from './event-source.ts'
import { Http, segment } from './http.ts'
import { watchNetwork } from './network.ts'
import { notices } from './notices.ts'
import { type SocketConstructor, SocketSource } from './socket-source.ts'
import type { Source } from './source.ts'

/** Which server, who asks, and over what. */
export interface ClientOptions {
  /** Where the server is, with the path under which it is mounted, if any. */
  readonly url: string
  /** Without it the cookie of a login counts. */
  readonly token?: string
  /** How logs are followed. `websocket`, the default, falls back to `sse` where no WebSocket can be opened. */
  readonly transport?: 'websocket' | 'sse'
  readonly fetch?: typeof fetch
  readonly WebSocket?: SocketConstructor
  /** How long a request whose answer was lost is repeated, if that does no harm: 10 s unless given, 0 for never. */
  readonly retryForMs?: number
  readonly onNotice?: (notice: ClientNotice) => void
  readonly clock?: ClientClock
  /** From 0 to 1; spreads the tries of clients that were cut off together. */
  readonly random?: () => number
}

const retryForMsDefault = 10_000

/** All connections of one client: its requests, its one WebSocket or its streams, and what is attached to them. */
export class Transport {
  readonly http: Http
  readonly monitor: ConnectionMonitor
  readonly #attachmentParts: AttachmentParts
  readonly #attachments = new Set<Attachment>()
  readonly #socket: SocketSource | undefined
  readonly #stops: readonly (() => void)[]
  #source: Source
  #isClosed = false

  constructor(options: ClientOptions) {
    const { clock = systemClock, random = Math.random, token, onNotice = () => {} } = options
    const { fetch = globalThis.fetch.bind(globalThis), retryForMs = retryForMsDefault } = options
    const address = { url: options.url.replace(/\/+$/, ''), token }
    const monitor = new ConnectionMonitor(clock, () => this.#hasten())
    const http = new Http({ ...address, fetch, clock, random, retryForMs, monitor })
    this.http = http
    this.monitor = monitor
    const parts = { http, clock, random, monitor }
    const sse = eventSource(parts)
    const { transport, WebSocket = (globalThis as { WebSocket?: SocketConstructor }).WebSocket } = options
    const onFallBack = () => {
      this.#source = sse
      onNotice({ code: 'fell_back', message: 'No WebSocket opens; SSE is used' })
    }
    this.#socket =
      WebSocket && transport !== 'sse' ? new SocketSource({ ...address, ...parts, WebSocket, onFallBack }) : undefined
    this.#source = this.#socket ?? sse
    this.#attachmentParts = {
      ...parts,
      source: () => this.#source,
      // Not repeated here: who attaches comes back by itself.
      snapshot: (thread, signal) => http.json<ThreadSnapshot>(`/v1/threads/${segment(thread)}`, { signal }),
      onNotice,
      onEnd: (attachment) => this.#attachments.delete(attachment),
    }
    this.#stops = [notices(monitor, onNotice), watchNetwork((isThere) => this.#network(isThere))]
  }

  attach(options: AttachmentOptions): Attachment {
    if (this.#isClosed) throw closed()
    const attachment = new Attachment(this.#attachmentParts, options)
    this.#attachments.add(attachment)
    return attachment
  }

  close(): void {
    this.#isClosed = true
    for (const stop of this.#stops) stop()
    for (const attachment of this.#attachments) attachment.close()
    this.#socket?.close()
    this.monitor.network(false)
  }

  #network(isThere: boolean): void {
    this.monitor.network(isThere)
    if (isThere) this.#hasten()
  }

  #hasten(): void {
    this.#source = this.#socket ?? this.#source
    this.#socket?.hasten()
    for (const attachment of this.#attachments) attachment.hasten()
  }
}

export function closed(): HoldfastError {
  return new HoldfastError('invalid_request', 'The client is closed; create another')
}
