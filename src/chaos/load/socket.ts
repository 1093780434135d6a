import { once } from 'node:events'
import { type RawData, WebSocket } from 'ws'
import type { Event } from '../../core/event.ts'
import { within } from '../pause.ts'
import { type Problem, Refused, unanswered } from './wire-error.ts'

/** A frame of a node: its type, the id that it answers, and what that type carries. */
export interface Frame {
  readonly type: string
  readonly id?: string
  readonly event?: Event
  readonly problem?: Problem
  readonly [field: string]: unknown
}

export type Asking = { readonly type: string } & Readonly<Record<string, unknown>>

/** A client's WebSocket. */
export class Socket {
  readonly closed: Promise<void>
  readonly #socket: WebSocket
  readonly #listeners = new Map<string, (frame: Frame) => void>()
  #count = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    this.closed = once(socket, 'close').then(() => {})
    socket.on('message', (data) => this.#take(data))
    // A dead node resets connections; `close` follows and tells.
    socket.on('error', () => {})
  }

  static async open(url: string, token: string, timeoutMs: number): Promise<Socket> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: timeoutMs,
    })
    try {
      await once(socket, 'open')
    } catch (error) {
      socket.on('error', () => {})
      socket.terminate()
      return unanswered(error)
    }
    return new Socket(socket)
  }

  /** Sends a frame; its answer is the first that carries its id. */
  async ask(frame: Asking, timeoutMs: number): Promise<Frame> {
    const answer = Promise.withResolvers<Frame>()
    const id = this.follow(frame, answer.resolve)
    const closed = this.closed.then(() => unanswered('closed'))
    closed.catch(() => {})
    try {
      const given = await within(timeoutMs, Promise.race([answer.promise, closed]), frame.type)
      if (given.type === 'error' && given.problem) throw new Refused(given.problem)
      return given
    } catch (error) {
      if (error instanceof Refused) throw error
      // Whoever has waited that long asks elsewhere.
      this.drop()
      return unanswered(error)
    } finally {
      this.#listeners.delete(id)
    }
  }

  /** Sends a frame under a new id, and hears everything that carries it. */
  follow(frame: Asking, listener: (frame: Frame) => void): string {
    this.#count += 1
    const id = `ask-${this.#count}`
    this.#listeners.set(id, listener)
    this.#socket.send(JSON.stringify({ ...frame, id }), () => {})
    return id
  }

  /** As a connection that is torn: nothing is said. */
  drop(): void {
    this.#socket.terminate()
  }

  #take(data: RawData): void {
    const frame = JSON.parse((data as Buffer).toString()) as Frame
    this.#listeners.get(frame.id ?? '')?.(frame)
  }
}
