import type { Sink } from './sink.ts'

// As much as Node lets wait for a socket before it says stop.
const waitingBytesMax = 64 * 1024
// Whoever reads is seen to take when it has taken one of these; in one large piece a slow reader would seem to take nothing.
const pieceBytes = 16 * 1024

/** A web stream, for whatever server the handler is mounted into. Counts bytes, not chunks. */
export class WebSink implements Sink {
  /** Whoever reads may keep what it got. */
  readonly isFlushed = false
  readonly stream: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #onDrained: (() => void) | undefined
  #onClosed: (() => void) | undefined
  #isClosed = false
  #written = 0

  constructor() {
    this.stream = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#pulled(),
        cancel: () => this.#closed(),
      },
      { highWaterMark: waitingBytesMax, size: (chunk) => chunk.byteLength },
    )
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get backlog(): number {
    return this.#isClosed ? 0 : waitingBytesMax - this.#room
  }

  get taken(): number {
    return this.#written - this.backlog
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isClosed) return false
    this.#written += bytes.byteLength
    for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
      this.#controller?.enqueue(bytes.subarray(at, at + pieceBytes))
    }
    return this.#room > 0
  }

  drained(): Promise<void> {
    if (this.#isClosed || this.#room > 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onDrained = resolve
    })
  }

  end(): void {
    if (this.#isClosed) return
    this.#controller?.close()
    // A stream does not tell when the last of it was read. What is left of it is bounded, and belongs to the reader now.
    this.#closed()
  }

  cut(): void {
    if (this.#isClosed) return
    this.#controller?.error(new Error('The stream was cut; come back with the id of the last event'))
    this.#closed()
  }

  onClosed(listener: () => void): void {
    if (this.#isClosed) listener()
    else this.#onClosed = listener
  }

  get #room(): number {
    return this.#controller?.desiredSize ?? 0
  }

  #pulled(): void {
    const resolve = this.#onDrained
    this.#onDrained = undefined
    resolve?.()
  }

  #closed(): void {
    this.#isClosed = true
    this.#pulled()
    const listener = this.#onClosed
    this.#onClosed = undefined
    listener?.()
  }
}
