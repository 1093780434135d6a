import type { ServerResponse } from 'node:http'
import { queuedBytes } from './queued-bytes.ts'
import type { Sink } from './sink.ts'

/** Node's own response. It holds nothing of the request, so that an idle stream costs little more than its socket. */
export class NodeSink implements Sink {
  readonly #outgoing: ServerResponse
  #onClosed: (() => void) | undefined
  #onDrained: (() => void) | undefined

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing
    outgoing.on('close', () => this.#closed())
  }

  get isClosed(): boolean {
    return this.#outgoing.destroyed || this.#outgoing.writableEnded
  }

  get backlog(): number {
    return this.#outgoing.writableLength
  }

  get isFlushed(): boolean {
    return this.#outgoing.writableLength === 0
  }

  get taken(): number {
    const { socket } = this.#outgoing
    return socket ? socket.bytesWritten - socket.writableLength - (queuedBytes(socket) ?? 0) : 0
  }

  write(bytes: Uint8Array): boolean {
    return !this.isClosed && this.#outgoing.write(bytes)
  }

  drained(): Promise<void> {
    if (this.isClosed || !this.#outgoing.writableNeedDrain) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        this.#onDrained = undefined
        this.#outgoing.off('drain', done)
        resolve()
      }
      this.#onDrained = done
      this.#outgoing.on('drain', done)
    })
  }

  end(): void {
    if (!this.isClosed) this.#outgoing.end()
  }

  cut(): void {
    this.#outgoing.destroy()
  }

  onClosed(listener: () => void): void {
    if (this.#outgoing.destroyed) listener()
    else this.#onClosed = listener
  }

  #closed(): void {
    this.#onDrained?.()
    const listener = this.#onClosed
    this.#onClosed = undefined
    listener?.()
  }
}
