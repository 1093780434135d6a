import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { HoldfastError } from '../../core/errors.ts'
import { isTraceparent } from '../../core/traceparent.ts'
import { toProblem } from '../../protocol/problem.ts'
import type { Timer } from '../../runtime/clock.ts'
import { refusedSource } from '../access-log.ts'
import { checkDotSegments } from '../dot-segments.ts'
import { requestIdOf } from '../request-id.ts'
import type { ServerParts } from '../server-parts.ts'
import { Connection, type ConnectionParts } from './connection.ts'
import { checkHandshake, headersOf, refuse, requestOf, subprotocol } from './handshake.ts'
import { SharedSnapshots } from './shared-snapshots.ts'

const frameBytesMax = 256 * 1024
// How long a client has to answer the close of a server that shuts down.
const closeMsMax = 1000

interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly headers: Headers
}

/** All WebSockets of one server. */
export class WebSockets {
  readonly #parts: ServerParts
  readonly #server: WebSocketServer
  readonly #connections = new Set<Connection>()
  readonly #snapshots = new SharedSnapshots()
  readonly #answerHeaders = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>()
  #isDraining = false
  #deadline: Timer | undefined

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: frameBytesMax,
      // Pongs are sent by the connection, which sends none to a client that reads nothing.
      autoPong: false,
      handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
    })
    this.#server.on('headers', (lines, request) => {
      for (const [name, value] of Object.entries(this.#headersFor(request))) lines.push(`${name}: ${value}`)
    })
    this.#server.on('wsClientError', (error, socket, request) => {
      this.#refuse(request, socket, new HoldfastError('invalid_request', error.message, { cause: error }))
    })
  }

  get count(): number {
    return this.#connections.size
  }

  /** Whether a request asks for a WebSocket where there are any. */
  isFor({ url = '', headers }: IncomingMessage): boolean {
    const [path] = url.split('?', 1)
    return path === `${this.#parts.basePath}/v1/ws` && headers.upgrade?.toLowerCase() === 'websocket'
  }

  /** Takes over a request for an upgrade, whatever comes of it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    this.#open({ request, socket, head, headers: headersOf(request) }).catch((error: unknown) => {
      this.#refuse(request, socket, error)
    })
  }

  /** Closes all of them, and lets no more in. */
  drain(): void {
    this.#isDraining = true
    for (const connection of this.#connections) connection.end()
    if (this.#connections.size === 0) return
    this.#deadline ??= this.#parts.clock.setTimer(closeMsMax, () => {
      for (const connection of this.#connections) connection.terminate()
    })
  }

  async #open({ request, socket, head, headers }: Upgrade): Promise<void> {
    const { authentication, guard, streams } = this.#parts
    checkDotSegments(request.url ?? '/')
    const isTls = 'encrypted' in socket && socket.encrypted === true
    guard.check(headers, isTls)
    const principal = await authentication.principalOf(headers, requestOf(request, headers, isTls))
    if (principal === undefined) throw new HoldfastError('unauthenticated', 'Give a valid token')
    // A Node before 24.9 does not ask which requests to upgrade, and brings all that offer it.
    if (!this.isFor(request)) throw new HoldfastError('invalid_request', 'Only /v1/ws is upgraded, to a WebSocket')
    checkHandshake(request, headers)
    if (this.#isDraining) throw new HoldfastError('draining', 'The server is shutting down; come back later')
    const place = streams.open(principal)
    const traceparent = headers.get('traceparent')
    const trace = isTraceparent(traceparent) ? { traceparent } : {}
    let isOpen = false
    try {
      this.#server.handleUpgrade(request, socket, head, (ws) => {
        isOpen = true
        this.#add({ server: this.#parts, ws, socket, principal, place, ...trace })
      })
    } finally {
      if (!isOpen) place.close()
    }
  }

  /** Apart from the upgrade, so that a connection that is open for long keeps nothing of the request in memory. */
  #add(parts: Omit<ConnectionParts, 'snapshots' | 'onClosed'>): void {
    const snapshots = this.#snapshots
    const connection = new Connection({ ...parts, snapshots, onClosed: () => this.#closed(connection) })
    this.#connections.add(connection)
  }

  #closed(connection: Connection): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) this.#deadline?.cancel()
  }

  #refuse(request: IncomingMessage, socket: Duplex, error: unknown): void {
    const headers = this.#headersFor(request)
    const problem = toProblem(error, headers['x-request-id'] ?? '')
    const { log } = this.#parts
    const { requestId, status } = problem
    if (status === 500) log.error({ requestId, err: error }, 'an upgrade failed by a defect')
    else log.info({ requestId, status, ...refusedSource(status, headersOf(request)) }, 'an upgrade was refused')
    refuse(socket, problem, headers)
  }

  #headersFor(request: IncomingMessage): Readonly<Record<string, string>> {
    const known = this.#answerHeaders.get(request)
    if (known) return known
    const headers = { 'x-request-id': requestIdOf(headersOf(request)), 'x-holdfast-node': this.#parts.node }
    this.#answerHeaders.set(request, headers)
    return headers
  }
}
