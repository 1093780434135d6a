import { HoldfastError } from '../../core/errors.ts'
import type { Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import { type Applied, BatchWrites } from './batch-writes.ts'
import { Connection } from './connection.ts'
import { translateOpening } from './failure.ts'
import type { PackedBatch, PackedUnit } from './packed-batch.ts'
import { checkSchema, migrate } from './schema.ts'
import { Scrubber } from './scrubber.ts'
import { checkpointPages, pageBytes, writeSettings } from './write-settings.ts'

export interface WriterOptions {
  readonly path: string
  readonly mayMigrate: boolean
  /** The most pages the file may have; what would need more is refused as if the disk were full. */
  readonly pageCountMax?: number
}

const cacheKib = 32_768

/**
 * The writer of the file: opens it, takes batches of any size, moves the log into the file and leaves no trace of what was
 * erased. Everything in it is synchronous; its host decides on which thread that is.
 *
 * W1 When an erase is answered nothing of it is in the files, unless another program reads them; then it is seen to later.
 */
export class SqliteWriter {
  readonly #connection: Connection
  readonly #writes: BatchWrites
  readonly #scrubber: Scrubber

  constructor(options: WriterOptions) {
    try {
      this.#connection = open(options)
      this.#writes = new BatchWrites(this.#connection, options.path)
      this.#scrubber = new Scrubber(this.#connection, options.path)
      this.#scrubber.attempt(0)
    } catch (error) {
      throw translateOpening(error, options.path)
    }
  }

  /** The lowest task number that was never used. */
  get nextTask(): number {
    return this.#writes.nextTask
  }

  /** Whether something that was erased is to be found in the files yet, and is seen to with one of the next batches. */
  get hasTraces(): boolean {
    return this.#scrubber.isDue
  }

  apply(batch: PackedBatch, moment: Moment): Applied {
    const { units } = batch
    const applied = this.#writes.apply(batch, moment, (verdicts) => {
      if (hasErased(units, verdicts)) this.#scrubber.note()
      if (units.length === 0) this.#tryToWrite()
    })
    if (hasErased(units, applied.verdicts)) this.#scrubber.demand()
    this.#scrubber.attempt(moment.now)
    return applied
  }

  /** Moves the log into the file, and says whether that was all of it: what somebody reads stays, and the log goes on growing. */
  moveLog(): boolean {
    try {
      const row = this.#connection.get<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(PASSIVE)')
      return row !== undefined && row.checkpointed === row.log
    } catch {
      // What could not be moved is whole in the log: nothing is lost, and it is tried again with the next batch.
      return false
    }
  }

  /** Another connection may have written. */
  forget(): void {
    this.#writes.forget()
  }

  /** Remembers the task numbers that were handed out and closes. The last connection to close writes everything into the file. */
  close(nextTask: number): void {
    try {
      this.#writes.remember(nextTask)
    } finally {
      this.#connection.close()
      this.#scrubber.close()
    }
  }

  /**
   * Whether a commit could be made shows only if something is written: a full disk has no objection to nothing. SQLite
   * leaves out a change to the value that is there, so it takes two that cancel each other out.
   */
  #tryToWrite(): void {
    this.#connection.run('UPDATE holdfast_meta SET next_task = next_task + 1')
    this.#connection.run('UPDATE holdfast_meta SET next_task = next_task - 1')
  }
}

/** Whether something was erased that must leave no trace. */
function hasErased(units: readonly PackedUnit[], verdicts: readonly Verdict[]): boolean {
  return units.some((unit, n) => unit.erase && !unit.leavesTraces && verdicts[n]?.committed)
}

function open({ path, mayMigrate, pageCountMax }: WriterOptions): Connection {
  const connection = new Connection(path, 'write')
  try {
    const missing = checkSchema(connection, path, mayMigrate)
    connection.exec(`PRAGMA page_size = ${pageBytes}`)
    const mode = connection.get<{ journal_mode: string }>('PRAGMA journal_mode = WAL')?.journal_mode
    if (mode !== 'wal') {
      const message = `The store ${path} cannot keep a write-ahead log there. Put it on a local disk`
      throw new HoldfastError('store_unavailable', message)
    }
    connection.configure(writeSettings({ checkpointPages, cacheKib, pageCountMax }))
    migrate(connection, missing)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
