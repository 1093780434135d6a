import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A line to a node that breaks: each connection after so many bytes of the answers, wherever in them that is. */
export class CuttingProxy {
  readonly #server: Server
  readonly #portOf: () => number
  readonly #bytesOf: () => number
  readonly #host: string
  readonly #open = new Set<Socket>()

  private constructor(portOf: () => number, bytesOf: () => number, host: string) {
    this.#host = host
    this.#portOf = portOf
    this.#bytesOf = bytesOf
    this.#server = createServer((client) => this.#carry(client))
  }

  /** `portOf` tells where the server listens now, `bytesOf` how many bytes the next connection carries. */
  static async start(portOf: () => number, bytesOf: () => number, host = '127.0.0.1'): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(portOf, bytesOf, host)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(client: Socket): void {
    const server = connect(this.#portOf(), this.#host)
    const cut = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      this.#open.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        this.#open.delete(socket)
        cut()
      })
    }
    client.pipe(server)
    let left = this.#bytesOf()
    server.on('data', (bytes) => {
      if (bytes.length < left) client.write(bytes)
      else if (left > 0) client.write(bytes.subarray(0, left), cut)
      else cut()
      left = Math.max(0, left - bytes.length)
    })
  }
}
