import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Event } from '../../../src/core/event.ts'
import { type Problem, Refused } from './refused.ts'
import type { TestServer } from './server.ts'

/** A frame of the server: its type, the id that it answers, and what that type carries. */
export interface Frame {
  readonly type: string
  readonly id?: string
  readonly event?: Event
  readonly problem?: Problem
  readonly [field: string]: unknown
}

/** A client's WebSocket. */
export class Socket {
  readonly frames: Frame[] = []
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  readonly #listeners = new Map<string, (frame: Frame) => void>()
  readonly #waiting = new Set<() => void>()
  #count = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.closed = once(socket, 'close').then(([code]) => code as number)
    socket.on('message', (data) => this.#take(JSON.parse((data as Buffer).toString()) as Frame))
    // A dead server resets connections; `close` follows and tells.
    socket.on('error', () => {})
  }

  static async open(server: Pick<TestServer, 'url' | 'authorization'>, as?: string): Promise<Socket> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/ws`, {
      headers: server.authorization(as),
    })
    const refused = once(socket, 'unexpected-response').then(([, response]) => {
      throw new Error(`The upgrade was answered ${(response as { statusCode: number }).statusCode}`)
    })
    refused.catch(() => {})
    await Promise.race([once(socket, 'open'), refused])
    return new Socket(socket)
  }

  /** Sends a frame; its answer is the first that carries its id. Rejects with what the server refuses. */
  async ask(frame: { readonly type: string } & Readonly<Record<string, unknown>>): Promise<Frame> {
    const answer = Promise.withResolvers<Frame>()
    const id = this.follow(frame, (given) => answer.resolve(given))
    const closed = this.closed.then((code) => {
      throw new Error(`The socket was closed with ${code} before ${frame.type} was answered`)
    })
    closed.catch(() => {})
    const given = await Promise.race([answer.promise, closed])
    this.#listeners.delete(id)
    if (given.type === 'error' && given.problem) throw new Refused(given.problem)
    return given
  }

  /** Sends a frame under a new id, and hears everything that carries it. */
  follow(
    frame: { readonly type: string } & Readonly<Record<string, unknown>>,
    listener: (frame: Frame) => void = () => {},
  ): string {
    this.#count += 1
    const id = `ask-${this.#count}`
    this.#listeners.set(id, listener)
    this.send(JSON.stringify({ ...frame, id }))
    return id
  }

  /** The first frame that satisfies this, come or to come. */
  async until(isWanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(isWanted)
      if (found) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  send(text: string): void {
    this.#socket.send(text)
  }

  /** Reads nothing any more; what arrives stays in the kernel. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.close()
  }

  /** As a connection that is torn: nothing is said. */
  drop(): void {
    this.#socket.terminate()
  }

  #take(frame: Frame): void {
    this.frames.push(frame)
    this.#listeners.get(frame.id ?? '')?.(frame)
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}
