import type { LogEntry } from '../../../../src/runtime/log-entry.ts'
import type { BatchSource } from '../../../../src/server/streams/stream.ts'

export type Batch = readonly LogEntry[]

export function entry(seq: number, text = `{"seq":${seq}}`): LogEntry {
  return { seq, type: 'custom', text }
}

/** Batches that the test hands out. */
export class FakeSource implements BatchSource {
  readonly #batches: (Batch | Error)[] = []
  #wake: (() => void) | undefined
  isClosed = false
  askedCount = 0

  give(batch: Batch | Error): void {
    this.#batches.push(batch)
    this.#wake?.()
  }

  async next(): Promise<Batch | undefined> {
    this.askedCount += 1
    while (!this.isClosed) {
      const batch = this.#batches.shift()
      if (batch instanceof Error) throw batch
      if (batch) return batch
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return undefined
  }

  close(): void {
    this.isClosed = true
    this.#wake?.()
  }
}
