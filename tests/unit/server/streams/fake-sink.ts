import type { Sink } from '../../../../src/server/streams/sink.ts'

/** A reader that takes when the test says so. */
export class FakeSink implements Sink {
  readonly written: Uint8Array[] = []
  readonly #roomBytes: number
  #taken = 0
  #onDrained: (() => void) | undefined
  #onClosed: (() => void) | undefined
  isClosed = false
  isEnded = false
  isCut = false

  constructor(roomBytes = 64 * 1024) {
    this.#roomBytes = roomBytes
  }

  get text(): string {
    return Buffer.concat(this.written).toString()
  }

  get backlog(): number {
    return this.written.reduce((sum, bytes) => sum + bytes.byteLength, 0) - this.#taken
  }

  get isFlushed(): boolean {
    return this.backlog === 0
  }

  get taken(): number {
    return this.#taken
  }

  write(bytes: Uint8Array): boolean {
    if (this.isClosed) return false
    this.written.push(bytes)
    return this.backlog < this.#roomBytes
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained = resolve
    })
  }

  end(): void {
    this.isEnded = true
    this.leave()
  }

  cut(): void {
    this.isCut = true
    this.leave()
  }

  onClosed(listener: () => void): void {
    this.#onClosed = listener
  }

  take(bytes: number): void {
    this.#taken += bytes
    if (this.backlog < this.#roomBytes) this.#onDrained?.()
  }

  /** The client hangs up. */
  leave(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#onDrained?.()
    this.#onClosed?.()
  }
}
