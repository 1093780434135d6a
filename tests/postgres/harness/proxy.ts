import { connect, createServer, type Server, type Socket } from 'node:net'
import { NoticeFilter } from '../../../src/chaos/postgres/notice-filter.ts'

/** Stands between a store and its server, and does to what passes what networks do. */
export interface NetworkProxy {
  /** A URL as given, through the proxy. */
  through(url: string): string
  /** How many connections were made by now. */
  readonly connectionCount: number
  /** Cuts every connection. */
  cut(): void
  /** Nothing passes any more, in neither direction, and no connection is made, until `resume`. */
  stall(): void
  resume(): void
  /** From now on every connection is cut at once, until `accept`. */
  refuse(): void
  accept(): void
  /**
   * The next statements that contain the text reach the server, but their answers are lost with the connection. Says how often
   * that has happened.
   */
  loseAnswers(text: string, count: number): { readonly count: number }
  /** Cuts the connection over which the next statement that contains the text is sent; it arrives when it is let go. */
  delayNext(text: string): { readonly held: Promise<void>; arrive(): Promise<void> }
  /**
   * Keeps back the last message of the next statement that contains the text, as a network does that is gone amid a packet: the
   * server executes it, and waits to be told to commit.
   */
  withholdEnd(text: string): { readonly held: Promise<void> }
  /** What is sent to the server in pieces of 60 kB or more is lost, with all that follows over the connection. */
  swallowLarge(): void
  /** Drops what the server sends without being asked: notices. */
  dropNotices(): void
  close(): Promise<void>
}

export async function startProxy(port: number): Promise<NetworkProxy> {
  const proxy = new TestProxy(port)
  await proxy.listen()
  return proxy
}

// The message that ends a statement, and commits it.
const sync = Buffer.from('S\0\0\0\x04')

// Little less than what a socket reads at once.
const largeBytes = 60_000

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

class TestProxy implements NetworkProxy {
  readonly #port: number
  readonly #listener: Server
  readonly #pairs = new Set<Pair>()
  connectionCount = 0
  #isStalled = false
  #isRefusing = false
  #dropsNotices = false
  #swallowsLarge = false
  #losing: { text: string; left: number; count: number } | undefined
  #delaying: { text: string; hold: (arrive: () => Promise<void>) => void } | undefined
  #withholding: { text: string; hold: () => void } | undefined

  constructor(port: number) {
    this.#port = port
    this.#listener = createServer((client) => this.#join(client))
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#listener.listen(0, '127.0.0.1', resolve))
  }

  through(url: string): string {
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('The proxy does not listen')
    const proxied = new URL(url)
    proxied.port = String(address.port)
    return proxied.href
  }

  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
  }

  stall(): void {
    this.#isStalled = true
    for (const { client, server } of this.#pairs) {
      client.pause()
      server.pause()
    }
  }

  resume(): void {
    this.#isStalled = false
    for (const { client, server } of this.#pairs) {
      client.resume()
      server.resume()
    }
  }

  refuse(): void {
    this.#isRefusing = true
    this.cut()
  }

  accept(): void {
    this.#isRefusing = false
  }

  loseAnswers(text: string, count: number): { readonly count: number } {
    this.#losing = { text, left: count, count: 0 }
    return this.#losing
  }

  delayNext(text: string): { readonly held: Promise<void>; arrive(): Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<() => Promise<void>>()
    this.#delaying = { text, hold: resolve }
    return { held: promise.then(() => undefined), arrive: async () => (await promise)() }
  }

  withholdEnd(text: string): { readonly held: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#withholding = { text, hold: resolve }
    return { held: promise }
  }

  swallowLarge(): void {
    this.#swallowsLarge = true
  }

  dropNotices(): void {
    this.#dropsNotices = true
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#listener.close(resolve))
  }

  #join(client: Socket): void {
    this.connectionCount += 1
    client.on('error', () => client.destroy())
    if (this.#isRefusing) {
      client.destroy()
      return
    }
    const server = connect(this.#port, '127.0.0.1')
    const pair = { client, server }
    this.#pairs.add(pair)
    const notices = new NoticeFilter()
    let losesAnswer = false
    let isSwallowed = false
    client.on('data', (bytes) => {
      isSwallowed ||= this.#swallowsLarge && bytes.length >= largeBytes
      if (isSwallowed) return
      if (this.#delay(pair, bytes)) return
      losesAnswer ||= this.#isToLose(bytes)
      server.write(this.#withoutEnd(bytes))
    })
    server.on('data', (bytes) => {
      if (losesAnswer) {
        client.destroy()
        server.destroy()
        return
      }
      for (const message of notices.take(bytes)) {
        if (!this.#dropsNotices || !message.isNotice) client.write(message.bytes)
      }
    })
    this.#partTogether(pair)
    if (!this.#isStalled) return
    client.pause()
    server.pause()
  }

  #partTogether(pair: Pair): void {
    const { client, server } = pair
    server.on('error', () => server.destroy())
    client.on('close', () => server.destroy())
    server.on('close', () => {
      client.destroy()
      this.#pairs.delete(pair)
    })
  }

  #isToLose(bytes: Buffer): boolean {
    if (!this.#losing || this.#losing.left === 0 || !bytes.includes(this.#losing.text)) return false
    this.#losing.left -= 1
    this.#losing.count += 1
    return true
  }

  #withoutEnd(bytes: Buffer): Buffer {
    if (!this.#withholding || !bytes.includes(this.#withholding.text) || !bytes.subarray(-5).equals(sync)) return bytes
    this.#withholding.hold()
    this.#withholding = undefined
    return bytes.subarray(0, -5)
  }

  /** Parts the pair: the client is cut, the server gets the statement later. */
  #delay(pair: Pair, bytes: Buffer): boolean {
    const { client, server } = pair
    if (!this.#delaying || !bytes.includes(this.#delaying.text)) return false
    const { hold } = this.#delaying
    this.#delaying = undefined
    client.removeAllListeners('close')
    server.removeAllListeners('data')
    client.destroy()
    hold(
      () =>
        new Promise((resolve) => {
          server.once('data', () => {
            server.destroy()
            resolve()
          })
          server.write(bytes)
        }),
    )
    return true
  }
}
