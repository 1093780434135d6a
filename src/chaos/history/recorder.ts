import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { type HistoryEntry, isAcknowledged } from './entry.ts'

/** What was written so far, for whoever decides when it is enough. */
export interface Tally {
  acknowledged: number
  /** Cancels that took something. */
  cancels: number
  /** Streams that were cut in the middle while their node was well. */
  cuts: number
  /** Hostile requests, and idle streams that were open at once. */
  hostile: number
  idle: number
  readonly faults: Record<string, number>
}

/** Writes a history, a line for each entry, and counts. */
export class Recorder {
  readonly tally: Tally = { acknowledged: 0, cancels: 0, cuts: 0, hostile: 0, idle: 0, faults: {} }
  readonly #file: WriteStream
  readonly #said: WriteStream
  readonly #waiting = new Set<() => void>()
  #isClosed = false

  constructor(path: string) {
    this.#file = createWriteStream(path)
    this.#said = createWriteStream(`${path}.nodes`)
  }

  /** After `close` nothing is written: clients of a round that failed may still have something to tell. */
  write(entry: HistoryEntry): void {
    if (this.#isClosed) return
    this.#file.write(`${JSON.stringify(entry)}\n`)
    this.#count(entry)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  /** Keeps what a node says in a file beside the history: for people, not for the checker. */
  hear(node: string, line: string): void {
    if (!this.#isClosed) this.#said.write(`${node} ${line}\n`)
  }

  /** Resolves when this is so, which is looked at after every entry. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const file of [this.#file, this.#said]) {
      file.end()
      await once(file, 'close')
    }
  }

  #count(entry: HistoryEntry): void {
    const { tally } = this
    if (isAcknowledged(entry)) tally.acknowledged += 1
    if (entry.kind === 'cancelled' && entry.tasks.length > 0) tally.cancels += 1
    if (entry.kind === 'stream' && entry.end === 'cut' && entry.events.length > 0) tally.cuts += 1
    if (entry.kind === 'hostile') tally.hostile += entry.sent
    if (entry.kind === 'memory') tally.idle += entry.idle ?? 0
    if (entry.kind === 'fault') tally.faults[entry.fault] = (tally.faults[entry.fault] ?? 0) + 1
  }
}
