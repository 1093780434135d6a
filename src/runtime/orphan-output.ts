import { PartsFold } from '../core/parts.ts'
import { crashesMax } from '../core/recover.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Logger } from './logger.ts'
import { type EventReads, readOutput } from './task-events.ts'
import { UnreadableLogs } from './unreadable-logs.ts'

// As many nodes as made it poisoned have died again when they were to end it: to read what it had put out may be why.
const endCrashesMax = 2 * crashesMax

const withoutOutput = 'an orphan is ended without what it had put out'

/** Reads what orphans had put out that are to end, and says which of them are to end without it (V4 of the recovery). */
export class OrphanOutput {
  readonly #reads: EventReads
  readonly #log: Logger
  readonly #unreadable: UnreadableLogs

  constructor(reads: EventReads, log: Logger, now: () => number) {
    this.#reads = reads
    this.#log = log
    this.#unreadable = new UnreadableLogs(now)
  }

  /** Rejects if it cannot be read and is to be tried again. */
  async read(record: TaskRecord, crashes: number): Promise<PartsFold> {
    const { id, status } = record
    if (status !== 'running') return new PartsFold()
    if (crashes >= endCrashesMax) {
      this.#log.error({ task: id, crashes }, `${withoutOutput}: to read that may be what brings nodes down`)
      return new PartsFold()
    }
    try {
      const output = await readOutput(this.#reads, record)
      this.#unreadable.forget(id)
      return output
    } catch (error) {
      if (!this.#unreadable.failsForGood(id)) throw error
      this.#unreadable.forget(id)
      this.#log.error({ err: error, task: id }, `${withoutOutput}: its log cannot be read`)
      return new PartsFold()
    }
  }
}
