import { isHoldfastError } from '../../core/errors.ts'
import type { Verdict } from '../../core/unit.ts'
import { Batch, type Moment, type Tables } from './batch.ts'
import { stopwatch } from './clock.ts'
import type { Connection } from './connection.ts'
import { translate } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { TaskWrites } from './task-writes.ts'
import { ThreadWrites } from './thread-writes.ts'

/**
 * Applies batches over one connection. Everything in it is synchronous; who calls it decides on which thread that is.
 *
 * T1 A batch is one transaction, durable when `apply` returns.
 * T2 What is known of threads and tasks is what the last commit left. A transaction that fails makes it unknown, and so does
 *    `forget`, which is called when another connection has written.
 * T3 After a failed fsync nothing is known of the file, and nothing is written any more.
 */
export class Transactions {
  readonly #path: string
  readonly #tables: Tables
  #nextTask: number
  #commitMs = 0
  #failure: unknown

  constructor(connection: Connection, path: string) {
    this.#path = path
    this.#tables = { connection, threads: new ThreadWrites(connection), tasks: new TaskWrites(connection) }
    this.#nextTask = connection.get<{ next_task: number }>('SELECT next_task FROM holdfast_meta')?.next_task ?? 0
  }

  /** The lowest task number that was never used. */
  get nextTask(): number {
    return this.#nextTask
  }

  /** What the last commit took: above all the disk. */
  get commitMs(): number {
    return this.#commitMs
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** `beside` is done in the same transaction, after the units. */
  apply({ units, bytes }: PackedBatch, moment: Moment, beside?: (verdicts: readonly Verdict[]) => void): Verdict[] {
    return this.#transaction(moment.nextTask, () => {
      const batch = new Batch(this.#tables, moment, bytes)
      const verdicts = units.map((unit) => batch.take(unit))
      batch.flush()
      beside?.(verdicts)
      return verdicts
    })
  }

  /** Only remembers the task numbers that were handed out. */
  remember(nextTask: number): void {
    this.#transaction(nextTask, () => undefined)
  }

  /** Another connection has written: what is known is read anew (T2). */
  forget(): void {
    this.#tables.threads.forget()
    this.#tables.tasks.forget()
  }

  #transaction<Result>(nextTask: number, work: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure
    const { connection } = this.#tables
    let tookMs = stopwatch()
    try {
      const result = connection.transaction('BEGIN IMMEDIATE', () => {
        const done = work()
        if (nextTask > this.#nextTask) connection.run('UPDATE holdfast_meta SET next_task = ?', nextTask)
        tookMs = stopwatch()
        return done
      })
      this.#commitMs = tookMs()
      this.#nextTask = Math.max(this.#nextTask, nextTask)
      return result
    } catch (error) {
      this.forget()
      const translated = translate(error, this.#path)
      if (isHoldfastError(translated, 'store_failed')) this.#failure = translated
      throw translated
    }
  }
}
