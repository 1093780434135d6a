import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * Stands between clients and a server as a pooler in transaction mode does: every transaction of a client goes to another of a
 * few connections to the server, with whatever was set and prepared there before. Notices reach nobody.
 */
export interface TransactionPooler {
  /** A URL as given, through the pooler. */
  through(url: string): string
  /** How many clients it has had. */
  readonly clientCount: number
}

export async function startPooler(url: string, backendCount: number): Promise<TransactionPooler> {
  const { hostname, port, username, pathname } = new URL(url)
  const opening = Array.from({ length: backendCount }, () =>
    Backend.open(hostname, Number(port), { user: username, database: pathname.slice(1) }),
  )
  const pool = new Pool(await Promise.all(opening))
  const clients = new Set<Client>()
  let clientCount = 0
  const listener = createServer((socket) => {
    clientCount += 1
    const client = new Client(socket, pool)
    clients.add(client)
    socket.on('close', () => clients.delete(client))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  onTestFinished(async () => {
    for (const client of clients) client.close()
    pool.close()
    listener.close()
    await once(listener, 'close')
  })
  return {
    through(given) {
      const address = listener.address()
      if (address === null || typeof address === 'string') throw new Error('The pooler does not listen')
      const pooled = new URL(given)
      pooled.port = String(address.port)
      return pooled.href
    },
    get clientCount() {
      return clientCount
    },
  }
}

/** Messages: a letter, the length of the rest, the rest. */
class Frames {
  #bytes: Buffer = Buffer.alloc(0)

  /** The first message of a connection has no letter. */
  takeFirst(): Buffer | undefined {
    return this.#take(0)
  }

  *take(bytes: Buffer): Generator<Buffer> {
    this.add(bytes)
    for (let frame = this.#take(1); frame; frame = this.#take(1)) yield frame
  }

  add(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
  }

  #take(letters: number): Buffer | undefined {
    if (this.#bytes.length < letters + 4) return undefined
    const length = letters + this.#bytes.readUInt32BE(letters)
    if (this.#bytes.length < length) return undefined
    const frame = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return frame
  }
}

class Backend {
  readonly socket: Socket
  readonly #frames = new Frames()
  /** Who is answered. */
  client: Client | undefined

  static async open(host: string, port: number, parameters: Readonly<Record<string, string>>): Promise<Backend> {
    const socket = connect(port, host)
    await once(socket, 'connect')
    const backend = new Backend(socket)
    const text = Object.entries(parameters).flat()
    const body = Buffer.from(`\0\x03\0\0${[...text, ''].join('\0')}\0`, 'latin1')
    const ready = new Promise<void>((resolve) => {
      backend.#onReady = resolve
    })
    socket.write(Buffer.concat([lengthOf(body), body]))
    await ready
    return backend
  }

  #onReady: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      for (const frame of this.#frames.take(bytes)) this.#hear(frame)
    })
  }

  #hear(frame: Buffer): void {
    const letter = String.fromCharCode(frame[0] ?? 0)
    if (letter === 'Z') this.#onReady()
    if (letter !== 'A') this.client?.answer(letter, frame)
  }
}

class Pool {
  readonly #all: readonly Backend[]
  /** Whoever was used longest ago is first, so that two transactions in a row are seldom on the same. */
  readonly #idle: Backend[]
  readonly #waiting: ((backend: Backend) => void)[] = []

  constructor(backends: readonly Backend[]) {
    this.#all = backends
    this.#idle = [...backends]
  }

  async take(): Promise<Backend> {
    return this.#idle.shift() ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  give(backend: Backend): void {
    backend.client = undefined
    const next = this.#waiting.shift()
    if (next) next(backend)
    else this.#idle.push(backend)
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy()
  }
}

class Client {
  readonly #socket: Socket
  readonly #pool: Pool
  readonly #frames = new Frames()
  #hasStarted = false
  #backend: Backend | undefined
  #taking: Promise<void> | undefined
  /** What is sent when there is somebody to send it to. */
  #unsent: Buffer[] = []
  #unanswered = 0

  constructor(socket: Socket, pool: Pool) {
    this.#socket = socket
    this.#pool = pool
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => this.#read(bytes))
  }

  close(): void {
    this.#socket.destroy()
  }

  answer(letter: string, frame: Buffer): void {
    this.#socket.write(frame)
    if (letter !== 'Z') return
    this.#unanswered -= 1
    const isOutside = frame[5] === 'I'.charCodeAt(0)
    if (!isOutside || this.#unanswered > 0 || !this.#backend) return
    this.#pool.give(this.#backend)
    this.#backend = undefined
  }

  #read(bytes: Buffer): void {
    if (this.#hasStarted) {
      for (const frame of this.#frames.take(bytes)) this.#hear(frame)
      return
    }
    this.#frames.add(bytes)
    if (!this.#frames.takeFirst()) return
    this.#hasStarted = true
    const [ok, key, ready] = [Buffer.alloc(4), Buffer.alloc(8), Buffer.from('I')]
    this.#socket.write(Buffer.concat([framed('R', ok), framed('K', key), framed('Z', ready)]))
  }

  #hear(frame: Buffer): void {
    const letter = String.fromCharCode(frame[0] ?? 0)
    if (letter === 'X') return this.close()
    // Each of these is answered with a word that says it is ready for more.
    if (letter === 'Q' || letter === 'S') this.#unanswered += 1
    this.#unsent.push(frame)
    if (this.#backend) this.#send(this.#backend)
    else this.#taking ??= this.#take()
  }

  async #take(): Promise<void> {
    const backend = await this.#pool.take()
    backend.client = this
    this.#backend = backend
    this.#taking = undefined
    this.#send(backend)
  }

  #send({ socket }: Backend): void {
    for (const frame of this.#unsent.splice(0)) socket.write(frame)
  }
}

function framed(letter: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(letter), lengthOf(body), body])
}

function lengthOf(body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return length
}
