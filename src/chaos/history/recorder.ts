import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { type Deletes, type HistoryEntry, isAcknowledged, type ThreadName } from './entry.ts'

/** What was written so far, for whoever decides when it is enough. */
export interface Tally {
  acknowledged: number
  /** Cancels that took something. */
  cancels: number
  /** Streams that were cut in the middle while their node was well. */
  cuts: number
  /** Threads that were deleted, and times that threads were pruned. */
  deletes: number
  prunes: number
  /** Times that somebody asked for what is another's. */
  probes: number
  /** Hostile requests, and idle streams that were open at once. */
  hostile: number
  idle: number
  readonly faults: Record<string, number>
}

/** Writes a history, a line for each entry, and counts. */
export class Recorder {
  readonly tally: Tally = {
    acknowledged: 0,
    cancels: 0,
    cuts: 0,
    deletes: 0,
    prunes: 0,
    probes: 0,
    hostile: 0,
    idle: 0,
    faults: {},
  }
  readonly #file: WriteStream
  readonly #said: WriteStream
  readonly #waiting = new Set<() => void>()
  readonly #deletes = new Map<ThreadName, Deletes>()
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

  /** How it stands with the deletes of a thread in this round. */
  deletesOf(thread: ThreadName): Deletes {
    return this.#deletes.get(thread) ?? { asked: 0, answered: 0 }
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
    if (entry.kind === 'deleted') tally.deletes += 1
    if (entry.kind === 'pruned') tally.prunes += 1
    if (entry.kind === 'probe') tally.probes += 1
    if (entry.kind === 'hostile') tally.hostile += entry.sent
    if (entry.kind === 'memory') tally.idle += entry.idle ?? 0
    if (entry.kind === 'fault') tally.faults[entry.fault] = (tally.faults[entry.fault] ?? 0) + 1
    this.#countDeletes(entry)
  }

  #countDeletes(entry: HistoryEntry): void {
    // Rounds use the same names for threads that have nothing to do with each other.
    if (entry.kind === 'round') this.#deletes.clear()
    if (entry.kind !== 'deleting' && entry.kind !== 'deleted') return
    const { asked, answered } = this.deletesOf(entry.thread)
    const isAsked = entry.kind === 'deleting'
    this.#deletes.set(entry.thread, isAsked ? { asked: asked + 1, answered } : { asked, answered: answered + 1 })
  }
}
