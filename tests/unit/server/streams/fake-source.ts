import { principal, threadId, threadKey } from '../../../../src/core/id.ts'
import type { LogEntry } from '../../../../src/runtime/log-entry.ts'
import { type LogBatch, LogStretch } from '../../../../src/runtime/log-stretch.ts'
import { Ring } from '../../../../src/runtime/ring.ts'
import { StretchCache } from '../../../../src/runtime/stretch-cache.ts'
import type { BatchSource } from '../../../../src/server/streams/stream.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

const cache = new StretchCache(manualClock())

/** Events of one row, with these texts as their data. */
export function stretch(first: number, data: readonly string[], isLast = false): LogStretch {
  const body = data.map((each) => `custom\t\t\t\t${JSON.stringify(each)}`).join('\n')
  const ring = new Ring(threadKey(principal('alice'), threadId('t')))
  return new LogStretch(ring, [{ first, last: first + data.length - 1, at: 5, body }], cache, isLast)
}

export function entry(seq: number, text = `{"seq":${seq}}`): LogEntry {
  return { seq, type: 'custom', text }
}

/** Batches that the test hands out. */
export class FakeSource implements BatchSource {
  readonly #batches: (LogBatch | Error)[] = []
  #wake: (() => void) | undefined
  isClosed = false
  askedCount = 0

  give(batch: LogBatch | Error): void {
    this.#batches.push(batch)
    this.#wake?.()
  }

  async next(): Promise<LogBatch | undefined> {
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
