import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** A socket whose reader takes what it is given when the test says so. */
export class HeldSocket extends Duplex {
  readonly writes: Buffer[] = []
  #taken: (() => void)[] = []

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk)
    this.#taken.push(done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)))
    this.#taken.push(done)
  }

  async release(): Promise<void> {
    this.#taken.shift()?.()
    await nextTurn()
  }
}
