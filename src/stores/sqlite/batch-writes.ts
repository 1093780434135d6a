import { isHoldfastError } from '../../core/errors.ts'
import type { Verdict } from '../../core/unit.ts'
import { Batch, type Moment, type Tables } from './batch.ts'
import { stopwatchMs } from './clock.ts'
import type { Connection } from './connection.ts'
import { translate } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { removedWeight } from './removed-weight.ts'
import { TaskWrites } from './task-writes.ts'
import { ThreadWrites } from './thread-writes.ts'

export interface Applied {
  readonly verdicts: Verdict[]
  /** What the commit as such took: above all the disk. */
  readonly commitMs: number
}

/**
 * Writes batches over one connection. Everything in it is synchronous; who calls it decides on which thread that is.
 *
 * T1 A batch is one transaction, durable when `apply` returns.
 * T2 What is known of threads and tasks is what the last commit left. A transaction that fails makes it unknown, and so does
 *    `forget`, which is called when another connection may have written.
 * T3 After a failed fsync nothing is known of the file, and nothing is written any more.
 */
export class BatchWrites {
  readonly #path: string
  readonly #tables: Tables
  #nextTask: number
  #failure: unknown

  constructor(connection: Connection, path: string) {
    this.#path = path
    this.#tables = { connection, threads: new ThreadWrites(connection), tasks: new TaskWrites(connection) }
    this.#nextTask = connection.get<{ next_task: number }>('SELECT next_task FROM holdfast_meta')?.next_task ?? 0
  }

  /** The lowest task number that was never used, as far as this connection has written or read it. */
  get nextTask(): number {
    return this.#nextTask
  }

  /** `alsoWrite` is done in the same transaction, after the units. */
  apply({ units, bytes }: PackedBatch, moment: Moment, alsoWrite?: (verdicts: readonly Verdict[]) => void): Applied {
    let verdicts: Verdict[] = []
    const commitMs = this.#transaction(moment.nextTask, () => {
      const batch = new Batch(this.#tables, moment, bytes)
      verdicts = units.map((unit) => batch.take(unit))
      batch.flush()
      alsoWrite?.(verdicts)
    })
    return { verdicts, commitMs }
  }

  /** Whether about more bytes than these are overwritten by what it removes, but for an erase or a trim. */
  removesMoreThan(bytesMax: number, { units }: PackedBatch): boolean {
    return this.#orForget(() => {
      let left = bytesMax
      return units.some((unit) => {
        const thread = unit.read || unit.forget ? this.#tables.threads.find(unit.thread) : undefined
        if (thread) left -= removedWeight(this.#tables, thread.n, unit, left)
        return left < 0
      })
    })
  }

  /** Remembers the task numbers that were handed out, if that is news and anything may be written yet (T3). */
  remember(nextTask: number): void {
    if (this.#failure === undefined && nextTask > this.#nextTask) this.#transaction(nextTask, () => {})
  }

  /** Another connection may have written: what is known is read anew (T2). */
  forget(): void {
    this.#tables.threads.forget()
    this.#tables.tasks.forget()
  }

  /** Says what the commit as such took, in milliseconds. */
  #transaction(nextTask: number, work: () => void): number {
    const { connection } = this.#tables
    return this.#orForget(() => {
      const tookMs = connection.transaction('BEGIN IMMEDIATE', () => {
        work()
        if (nextTask > this.#nextTask) connection.run('UPDATE holdfast_meta SET next_task = ?', nextTask)
        return stopwatchMs()
      })
      this.#nextTask = Math.max(this.#nextTask, nextTask)
      return tookMs()
    })
  }

  /** T2, T3. */
  #orForget<Result>(work: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure
    try {
      return work()
    } catch (error) {
      this.forget()
      const translated = translate(error, this.#path)
      if (isHoldfastError(translated, 'store_failed')) this.#failure = translated
      throw translated
    }
  }
}
