import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { ClientOptions } from 'ws'
import { defaultLimits, type Limits } from '../../../../src/core/limits.ts'
import type { Runtime } from '../../../../src/index.ts'
import { silentLogger } from '../../../../src/runtime/logger.ts'
import { Authentication } from '../../../../src/server/auth/authentication.ts'
import type { HandlerOptions } from '../../../../src/server/options.ts'
import { OriginGuard } from '../../../../src/server/origin-guard.ts'
import type { ServerParts } from '../../../../src/server/server-parts.ts'
import { Streams } from '../../../../src/server/streams/streams.ts'
import { WebSockets } from '../../../../src/server/websocket/web-sockets.ts'
import type { World } from '../../../scenarios/world.ts'
import { Client } from './client.ts'

export const tokens = { alice: 'token-of-alice', bob: 'token-of-bob' } as const

export interface SocketsOptions extends Pick<HandlerOptions, 'authenticate' | 'hosts' | 'origins'> {
  readonly limits?: Partial<Limits>
}

/** A runtime behind WebSockets alone, on the clock of its world. */
export class Sockets {
  readonly parts: ServerParts
  readonly webSockets: WebSockets
  /** The server's end of every connection, in the order in which they were opened. */
  readonly sockets: Socket[] = []
  readonly #server: Server
  readonly #clients: Client[] = []

  private constructor(parts: ServerParts) {
    this.parts = parts
    this.webSockets = new WebSockets(parts)
    this.#server = createServer()
    this.#server.on('upgrade', (request, socket, head) => this.webSockets.upgrade(request, socket, head))
    this.#server.on('connection', (socket) => this.sockets.push(socket))
  }

  static async open(world: World, runtime: Runtime, options: SocketsOptions = {}): Promise<Sockets> {
    const { clock } = world
    const { limits: given, authenticate, hosts, origins } = options
    const limits = { ...defaultLimits, ...given }
    const sockets = new Sockets({
      runtime,
      node: 'node-1',
      limits,
      authentication: new Authentication({ tokens, clock, ...(authenticate && { authenticate }) }),
      guard: new OriginGuard({ ...(hosts && { hosts }), ...(origins && { origins }) }),
      streams: new Streams({ clock, limits, log: silentLogger }),
      clock,
      log: silentLogger,
      basePath: '',
    })
    await new Promise<void>((resolve) => sockets.#server.listen(0, '127.0.0.1', resolve))
    return sockets
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/v1/ws`
  }

  async connect(principal: keyof typeof tokens = 'alice', options: ClientOptions = {}): Promise<Client> {
    const client = await Client.open(this.url, tokens[principal], options)
    this.#clients.push(client)
    return client
  }

  async close(): Promise<void> {
    for (const { ws } of this.#clients) ws.terminate()
    for (const socket of this.sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
