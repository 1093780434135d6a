import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Runtime } from '../runtime/runtime.ts'
import { allocateYoung } from './allocate-young.ts'
import { createApp } from './app.ts'
import { loginLine, madeTokens } from './auth/made-token.ts'
import { compose, hasCredentials } from './compose.ts'
import { Connections } from './connections.ts'
import { hostDefault, listenOn, portDefault } from './listen-on.ts'
import { createListener } from './listener.ts'
import type { ServeOptions } from './options.ts'
import type { ServerParts } from './server-parts.ts'
import { drainOnSignal } from './signals.ts'
import { stateFolder } from './state-folder.ts'
import { stderrLog } from './stderr-log.ts'
import { refuseTunnel, refuseUnreadable } from './unreadable-request.ts'
import { WebSockets } from './websocket/web-sockets.ts'

/** A server that listens. */
export interface Server {
  /** Where it answers, without a slash at its end. */
  readonly url: string
  readonly port: number
  /** A code for `{url}/console#login=CODE`, which logs one browser in: one use, 10 minutes. */
  newLoginCode(principal: string): string
  /** Drains, closes the runtime, and stops listening. */
  close(): Promise<void>
}

// Nobody who means well takes that long to say what they want.
const headersMsMax = 10_000
// A body of the size that is allowed by default gets through on a very slow line.
const requestMsMax = 120_000
// Longer than the 60 s that proxies commonly keep an idle connection for, so that it is never us who close it under a request.
const keepAliveMs = 65_000
// How often the times above are looked at.
const checkMs = 1000
// A drain that is over sooner needs no word.
const tellingMs = 1000
// What was answered before everything ended gets this long to be taken.
const lingerMs = 1000

/**
 * Serves a runtime over HTTP and WebSocket. Resolves when it listens. On loopback it makes a token if it is given none, and
 * tells a login link on stderr.
 */
export async function serve(runtime: Runtime, options: ServeOptions = {}): Promise<Server> {
  const { host = hostDefault, port = portDefault } = options
  allocateYoung(process.execArgv)
  const isTokenMade = !hasCredentials(options)
  const tokens = isTokenMade && { tokens: madeTokens(host, options.stateFolder ?? stateFolder()) }
  // Whoever brings no logger is told at least what goes wrong.
  const log = options.log ?? stderrLog((text) => void process.stderr.write(text))
  runtime.logTo(log)
  const parts = await compose(runtime, { ...options, ...tokens, log })()
  const server = new ListeningServer(parts, options)
  await server.listen(host, port)
  // Not to the log, which is kept for longer and read by more people than a login link is for.
  if (isTokenMade) process.stderr.write(loginLine(server))
  return server
}

/**
 * H1 While it drains it still answers: reads as ever, new work with 503. Streams are ended and WebSockets closed at once,
 *    so that their readers come back to another node.
 * H2 When the runtime has closed, what was answered is still sent, but nobody is waited for longer than `lingerMs`.
 */
class ListeningServer implements Server {
  readonly #parts: ServerParts
  readonly #http: HttpServer
  readonly #webSockets: WebSockets
  readonly #connections = new Connections()
  readonly #shutdownMs: number | undefined
  #stopListeningToSignals: (() => void) | undefined
  #closing: Promise<void> | undefined
  #url = ''
  #port = 0

  constructor(parts: ServerParts, { shutdownMs, handlesSignals = true }: ServeOptions) {
    this.#parts = parts
    this.#shutdownMs = shutdownMs
    this.#webSockets = new WebSockets(parts)
    const listener = createListener(createApp(parts), parts)
    this.#http = createServer(
      {
        headersTimeout: headersMsMax,
        requestTimeout: requestMsMax,
        keepAliveTimeout: keepAliveMs,
        connectionsCheckingInterval: checkMs,
        // The guard answers it, as any other host that is not ours.
        requireHostHeader: false,
        // A request that offers another protocol is answered in this one.
        shouldUpgradeCallback: (request) => this.#webSockets.isFor(request),
      },
      listener,
    )
    // Whatever is expected of it beside, a request is answered as any other.
    this.#http.on('checkExpectation', listener)
    this.#http.on('clientError', (error, socket) => refuseUnreadable(error, socket, parts.node))
    this.#http.on('connect', (request, socket) => refuseTunnel(request, socket, parts.node))
    this.#http.on('connection', (socket) => this.#connections.add(socket))
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
    if (handlesSignals)
      this.#stopListeningToSignals = drainOnSignal(
        () => this.close(),
        () => tellOfDrain(shutdownMs),
      )
  }

  get url(): string {
    return this.#url
  }

  get port(): number {
    return this.#port
  }

  async listen(host: string, port: number): Promise<void> {
    try {
      await listenOn(this.#http, host, port)
    } catch (error) {
      this.#stopListeningToSignals?.()
      throw error
    }
    this.#port = (this.#http.address() as AddressInfo).port
    const name = host.includes(':') ? `[${host}]` : host
    this.#url = `http://${name}:${this.#port}${this.#parts.basePath}`
  }

  newLoginCode(principal: string): string {
    return this.#parts.authentication.newLoginCode(principal)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { runtime, streams } = this.#parts
    const closed = runtime.close(this.#shutdownMs === undefined ? {} : { drainMs: this.#shutdownMs })
    streams.endAll()
    this.#webSockets.drain()
    try {
      await closed
    } finally {
      await this.#stop()
      this.#stopListeningToSignals?.()
    }
  }

  async #stop(): Promise<void> {
    const { clock, streams } = this.#parts
    // Those that were opened while it drained.
    streams.endAll()
    await this.#connections.settled(clock, lingerMs)
    const stopped = new Promise<void>((resolve) => {
      this.#http.close(() => resolve())
    })
    this.#connections.destroy()
    await stopped
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#connections.upgrade(socket)
    this.#webSockets.upgrade(request, socket, head)
  }
}

/** Whoever pressed Ctrl-C sees why the terminal does not come back at once. */
function tellOfDrain(shutdownMs = Number.POSITIVE_INFINITY): void {
  if (process.stderr.isTTY && shutdownMs >= tellingMs)
    process.stderr.write('\nStopping: what runs may finish first. Ctrl-C again stops at once\n')
}
