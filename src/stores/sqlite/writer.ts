import { HoldfastError, isHoldfastError } from '../../core/errors.ts'
import type { Verdict } from '../../core/unit.ts'
import { Batch, type Moment, type Tables } from './batch.ts'
import { Connection } from './connection.ts'
import { translate, translateOpening } from './failure.ts'
import type { PackedBatch, PackedUnit } from './packed-batch.ts'
import { checkSchema, migrate } from './schema.ts'
import { Scrubber } from './scrubber.ts'
import { TaskWrites } from './task-writes.ts'
import { ThreadWrites } from './thread-writes.ts'
import { pageCountBound } from './unowned-bytes.ts'

export interface WriterOptions {
  readonly path: string
  readonly mayMigrate: boolean
  /** The most pages the file may have; what would need more is refused as if the disk were full. */
  readonly pageCountMax?: number
}

// A commit writes every page it touches, and one that accepts a run touches eleven
// (docs/decisions/0006-small-pages.md, and 0019 for the twelfth).
const pageBytes = 4_096
// A commit that has to move this many pages into the file takes a few milliseconds longer; more pages stall everybody
// for tens of them at once (docs/decisions/0004-small-checkpoints.md).
const checkpointPages = 1_000
const cacheKib = 32_768

/**
 * The one writer of the file. Everything in it is synchronous; its host decides on which thread that is.
 *
 * W1 A batch is one transaction, durable when `apply` returns.
 * W2 What is known of threads and tasks is what the last commit left; a transaction that fails makes it unknown.
 * W3 After a failed fsync nothing is known of the file, and nothing is written any more.
 * W4 When an erase is answered nothing of it is in the files, unless another program reads them; then it is seen to later.
 */
export class SqliteWriter {
  readonly #path: string
  readonly #connection: Connection
  readonly #tables: Tables
  readonly #scrubber: Scrubber
  #nextTask: number
  #failure: unknown

  constructor(options: WriterOptions) {
    this.#path = options.path
    try {
      this.#connection = open(options)
      const [threads, tasks] = [new ThreadWrites(this.#connection), new TaskWrites(this.#connection)]
      this.#tables = { connection: this.#connection, threads, tasks }
      const meta = this.#connection.get<{ next_task: number }>('SELECT next_task FROM holdfast_meta')
      this.#nextTask = meta?.next_task ?? 0
      this.#scrubber = new Scrubber(this.#connection, options.path)
      this.#scrubber.attempt(0)
    } catch (error) {
      throw translateOpening(error, options.path)
    }
  }

  /** The lowest task number that was never used. */
  get nextTask(): number {
    return this.#nextTask
  }

  apply({ units, bytes }: PackedBatch, moment: Moment): Verdict[] {
    const verdicts = this.#transaction(moment.nextTask, () => {
      const batch = new Batch(this.#tables, moment, bytes)
      const taken = units.map((unit) => batch.take(unit))
      batch.flush()
      if (hasErased(units, taken)) this.#scrubber.note()
      if (units.length === 0) this.#tryToWrite()
      return taken
    })
    if (hasErased(units, verdicts)) this.#scrubber.demand()
    this.#scrubber.attempt(moment.now)
    return verdicts
  }

  /** Remembers the task numbers that were handed out and closes. The last connection to close writes everything into the file. */
  close(nextTask: number): void {
    try {
      if (this.#failure === undefined) this.#transaction(nextTask, () => undefined)
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
      this.#tables.threads.forget()
      this.#tables.tasks.forget()
      const translated = translate(error, this.#path)
      if (isHoldfastError(translated, 'store_failed')) this.#failure = translated
      throw translated
    }
  }
}

/** Whether something was erased that must leave no trace. */
function hasErased(units: readonly PackedUnit[], verdicts: readonly Verdict[]): boolean {
  return units.some((unit, n) => unit.erase && !unit.leavesTraces && verdicts[n]?.committed)
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
    connection.configure(settings(options.pageCountMax))
    migrate(connection, missing)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function settings(pageCountMax = pageCountBound - 1): string {
  return `
    PRAGMA synchronous = FULL;
    -- Where an fsync leaves data in the disk's own cache (macOS), ask for more.
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = ${checkpointPages};
    PRAGMA cache_size = -${cacheKib};
    PRAGMA max_page_count = ${Math.min(pageCountMax, pageCountBound - 1)};
    -- What is deleted is overwritten, and nothing of it is put into files of its own on the way
    -- (docs/decisions/0005-erase-leaves-no-bytes.md).
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;`
}
