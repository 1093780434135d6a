import type { WebSocket } from 'ws'

/** A message as it came. */
export interface Received {
  readonly data: Buffer
  readonly isBinary: boolean
}

// Beyond either the socket is not read. One read of the socket may bring more than that at once, and is taken whole.
const waitingCountMax = 64
const waitingBytesMax = 512 * 1024

/**
 * The messages of one connection, handled one after the other in the order in which they came. They are handled to
 * the last even if the connection closes: whoever cancels something and leaves has cancelled it.
 */
export class FrameQueue {
  readonly #ws: WebSocket
  readonly #handle: (received: Received) => Promise<void>
  readonly #waiting: Received[] = []
  #waitingBytes = 0
  #isHandling = false

  /** `handle` does not reject. */
  constructor(ws: WebSocket, handle: (received: Received) => Promise<void>) {
    this.#ws = ws
    this.#handle = handle
  }

  push(received: Received): void {
    this.#waiting.push(received)
    this.#waitingBytes += received.data.length
    if (this.#isFull && !this.#ws.isPaused) this.#ws.pause()
    if (!this.#isHandling) void this.#handleAll()
  }

  get #isFull(): boolean {
    return this.#waiting.length > waitingCountMax || this.#waitingBytes > waitingBytesMax
  }

  async #handleAll(): Promise<void> {
    this.#isHandling = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      this.#waitingBytes -= next.data.length
      if (this.#ws.isPaused && !this.#isFull) this.#ws.resume()
      await this.#handle(next)
    }
    this.#isHandling = false
  }
}
