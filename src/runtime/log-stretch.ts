import { decodeRow, type EventRow, rowLength } from '../core/event-row.ts'
import { rowTexts } from '../core/event-text.ts'
import type { ThreadKey } from '../core/id.ts'
import { type LogEntry, LoggedEvent } from './log-entry.ts'

/** Events of a log in a row as they are stored, for whoever needs nothing of them but their texts. */
export class LogStretch {
  readonly #key: ThreadKey
  readonly #rows: readonly EventRow[]
  /** Whether what follows may have to be waited for. */
  readonly isLast: boolean

  constructor(key: ThreadKey, rows: readonly EventRow[], isLast: boolean) {
    this.#key = key
    this.#rows = rows
    this.isLast = isLast
  }

  /** About the length of its texts. */
  get length(): number {
    return this.#rows.reduce((sum, row) => sum + rowLength(row), 0)
  }

  /** Decoded by every call. */
  entries(): readonly LoggedEvent[] {
    return this.#rows.flatMap((row) => decodeRow(row).map((stored) => new LoggedEvent(this.#key, stored)))
  }

  /** Hands out each event as JSON, with its number, in their order. */
  texts(use: (seq: number, text: string) => void): void {
    for (const row of this.#rows) rowTexts(this.#key, row, use)
  }
}

/** Some events of a log, in their order: from memory, or as they are stored. */
export type LogBatch<Entry extends LogEntry = LogEntry> = readonly Entry[] | LogStretch

export function entriesOf<Entry extends LogEntry>(batch: LogBatch<Entry>): readonly (Entry | LoggedEvent)[] {
  return batch instanceof LogStretch ? batch.entries() : batch
}
