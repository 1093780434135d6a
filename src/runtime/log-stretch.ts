import { decodeRow, type EventRow, rowLength } from '../core/event-row.ts'
import { rowTexts } from '../core/event-text.ts'
import { type LogEntry, LoggedEvent } from './log-entry.ts'
import type { Ring } from './ring.ts'
import type { StretchCache } from './stretch-cache.ts'

/** Events of a log in a row as they are stored, for whoever needs nothing of them but their texts. */
export class LogStretch {
  readonly #ring: Ring
  readonly #rows: readonly EventRow[]
  readonly #cache: StretchCache
  /** Whether what follows may have to be waited for. */
  readonly reachesHead: boolean

  constructor(ring: Ring, rows: readonly EventRow[], cache: StretchCache, reachesHead: boolean) {
    this.#ring = ring
    this.#rows = rows
    this.#cache = cache
    this.reachesHead = reachesHead
  }

  /** About the length of its texts. */
  get length(): number {
    return this.#rows.reduce((sum, row) => sum + rowLength(row), 0)
  }

  /** What `maker` makes of it, which it may have made for another reader a moment ago. */
  made(maker: object, make: () => Uint8Array): Uint8Array {
    if (this.#ring.isEnded) return make()
    const { length } = this
    const [first, last] = [this.#rows[0], this.#rows.at(-1)]
    // Numbers alone would do, as long as nobody brings an older state of a database back.
    const name = `${first?.first} ${last?.last} ${last?.at} ${length}`
    return this.#cache.made(this.#ring.key, name, length, maker, make)
  }

  /** Decoded by every call. */
  entries(): readonly LoggedEvent[] {
    return this.#rows.flatMap((row) => decodeRow(row).map((stored) => new LoggedEvent(this.#ring.key, stored)))
  }

  /** Hands out each event as JSON, with its number, in their order. */
  texts(use: (seq: number, text: string) => void): void {
    for (const row of this.#rows) rowTexts(this.#ring.key, row, use)
  }
}

/** Some events of a log, in their order: from memory, or as they are stored. */
export type LogBatch<Entry extends LogEntry = LogEntry> = readonly Entry[] | LogStretch

export function entriesOf<Entry extends LogEntry>(batch: LogBatch<Entry>): readonly (Entry | LoggedEvent)[] {
  return batch instanceof LogStretch ? batch.entries() : batch
}
