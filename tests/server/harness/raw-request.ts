import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { RequestOptions, TestServer } from './server.ts'

/** A request whose bytes the test sends itself, whole or in part, and whose answer it need not read. */
export class RawRequest {
  readonly #socket: Socket
  readonly #bytes: Buffer
  #received = ''

  constructor(server: TestServer, method: string, path: string, options: RequestOptions = {}) {
    const { hostname, port, host } = new URL(server.url)
    const body = options.body === undefined ? '' : JSON.stringify(options.body)
    const headers = {
      host,
      ...server.authorization(options.as),
      ...(body !== '' && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      ...options.headers,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('data', (data: Buffer) => {
      this.#received += data.toString('latin1')
    })
    // Whoever hangs up is not interested in how the other side took it.
    this.#socket.on('error', () => {})
  }

  /** What has come back so far. */
  get received(): string {
    return this.#received
  }

  /** Resolves when the kernel has all of it. */
  sendAll(): Promise<void> {
    return this.sendPart(1)
  }

  async sendPart(share: number): Promise<void> {
    const part = this.#bytes.subarray(0, Math.round(this.#bytes.length * share))
    await new Promise<void>((resolve) => this.#socket.write(part, () => resolve()))
  }

  /** Reads nothing from now on: what arrives stays in the kernel. */
  pause(): void {
    this.#socket.pause()
  }

  /** Resolves when bytes of an answer are there. */
  async answered(): Promise<void> {
    if (this.#received === '') await once(this.#socket, 'data')
  }

  /** Resolves with all that came once the server has closed the connection. */
  async closed(): Promise<string> {
    if (!this.#socket.destroyed) await once(this.#socket, 'close')
    return this.#received
  }

  hangUp(): void {
    this.#socket.destroy()
  }
}
