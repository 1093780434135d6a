import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ClientOptions, WebSocket } from 'ws'

/** A frame of the server, loosely: tests look at what they care about. */
export interface Frame {
  readonly type: string
  readonly id?: string | number
  readonly [field: string]: unknown
}

export interface Close {
  readonly code: number
  readonly reason: string
}

/** A client that keeps every frame it was sent. */
export class Client {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  readonly texts: string[] = []
  readonly closed: Promise<Close>
  #read = 0
  #wake: (() => void) | undefined

  private constructor(ws: WebSocket) {
    this.ws = ws
    const { promise, resolve } = Promise.withResolvers<Close>()
    this.closed = promise
    ws.on('message', (data: Buffer) => {
      this.texts.push(data.toString())
      this.frames.push(JSON.parse(data.toString()) as Frame)
      this.#wake?.()
    })
    ws.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() })
      this.#wake?.()
    })
  }

  static async open(url: string, token: string, options: ClientOptions = {}): Promise<Client> {
    const ws = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, ...options })
    const client = new Client(ws)
    await new Promise((resolve, reject) => {
      ws.once('open', resolve)
      ws.once('error', reject)
    })
    return client
  }

  send(frame: object | string): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  /** The next frame that was not read yet. */
  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.frames[this.#read]
      if (frame) {
        this.#read += 1
        return frame
      }
      if (this.ws.readyState >= WebSocket.CLOSING) throw new Error('The connection closed')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Reads on to the first frame that fits, and answers with all that were read. */
  async until(fits: (frame: Frame) => boolean): Promise<Frame[]> {
    const read: Frame[] = []
    for (;;) {
      const frame = await this.next()
      read.push(frame)
      if (fits(frame)) return read
    }
  }

  /** Sends a frame and reads on to what answers it. */
  async ask(frame: { readonly id: string | number; readonly [field: string]: unknown }): Promise<Frame> {
    this.send(frame)
    const read = await this.until(({ id, type }) => id === frame.id && type !== 'event')
    return read.at(-1) as Frame
  }

  /** Resolves when everything that the server had to say before now is here. */
  async settled(): Promise<readonly Frame[]> {
    const id = `settled-${this.frames.length}`
    await this.ask({ type: 'ping', id })
    return this.frames.filter((frame) => frame.id !== id)
  }

  /** The events of an attach, in the order in which they came. */
  events(id: string | number): { readonly seq: number; readonly type: string; readonly task?: string }[] {
    const found = this.frames.filter((frame) => frame.type === 'event' && frame.id === id)
    return found.map(({ event }) => event as { seq: number; type: string; task?: string })
  }

  async close(): Promise<void> {
    this.ws.close()
    await this.closed
  }
}

/** Turns the event loop until something holds. It is a matter of turns: nothing here waits for time. */
export async function turnUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn()
}
