import { HoldfastError } from '../../core/errors.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import { Batch, type Moment } from './batch.ts'
import { Connection } from './connection.ts'
import { translate, translateOpening } from './failure.ts'
import { checkSchema, migrate } from './schema.ts'

export interface WriterOptions {
  readonly path: string
  readonly mayMigrate: boolean
  /** The most pages the file may have; what would need more is refused as if the disk were full. */
  readonly pageCountMax?: number
}

// Small enough that a commit of a few rows writes little, large enough that rows of several events pack well.
const pageBytes = 8_192
// A flush that has to move pages into the file stalls; rarely done, it is done in bulk.
const checkpointPages = 8_000
const cacheKib = 32_768

/**
 * The one writer of the file. Everything in it is synchronous; its host decides on which thread that is.
 *
 * W1 A batch is one transaction, durable when `apply` returns.
 * W2 After a failed fsync nothing is known of the file, and nothing is written any more.
 */
export class SqliteWriter {
  readonly #path: string
  readonly #connection: Connection
  #nextTask: number
  #failure: unknown

  constructor(options: WriterOptions) {
    this.#path = options.path
    try {
      this.#connection = open(options)
      const meta = this.#connection.get<{ next_task: number }>('SELECT next_task FROM holdfast_meta')
      this.#nextTask = meta?.next_task ?? 0
    } catch (error) {
      throw translateOpening(error, options.path)
    }
  }

  /** The lowest task number that was never used. */
  get nextTask(): number {
    return this.#nextTask
  }

  apply(units: readonly Unit[], moment: Moment): Verdict[] {
    return this.#transaction(moment.nextTask, () => {
      const batch = new Batch(this.#connection, moment)
      const verdicts = units.map((unit) => batch.take(unit))
      batch.flush()
      return verdicts
    })
  }

  /** Remembers the task numbers that were handed out and closes. The last connection to close writes everything into the file. */
  close(nextTask: number): void {
    try {
      if (this.#failure === undefined) this.#transaction(nextTask, () => undefined)
    } finally {
      this.#connection.close()
    }
  }

  #transaction<Result>(nextTask: number, work: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure
    try {
      const result = this.#connection.transaction('BEGIN IMMEDIATE', () => {
        const done = work()
        if (nextTask > this.#nextTask) this.#connection.run('UPDATE holdfast_meta SET next_task = ?', nextTask)
        return done
      })
      this.#nextTask = Math.max(this.#nextTask, nextTask)
      return result
    } catch (error) {
      const translated = translate(error, this.#path)
      if (isFatal(translated)) this.#failure = translated
      throw translated
    }
  }
}

function isFatal(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === 'store_failed'
}

function open(options: WriterOptions): Connection {
  const connection = new Connection(options.path, 'write')
  try {
    const missing = checkSchema(connection, options.path, options.mayMigrate)
    connection.exec(`PRAGMA page_size = ${pageBytes}`)
    const mode = connection.get<{ journal_mode: string }>('PRAGMA journal_mode = WAL')?.journal_mode
    if (mode !== 'wal') {
      const message = `The store ${options.path} cannot keep a write-ahead log there. Put it on a local disk`
      throw new HoldfastError('store_unavailable', message)
    }
    connection.exec('PRAGMA synchronous = FULL')
    connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    connection.exec(`PRAGMA cache_size = -${cacheKib}`)
    if (options.pageCountMax !== undefined) connection.exec(`PRAGMA max_page_count = ${options.pageCountMax}`)
    migrate(connection, missing)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}
