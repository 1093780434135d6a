import type { Verdict } from '../../core/unit.ts'
import type { Moment } from './batch.ts'
import { Connection } from './connection.ts'
import { isBusy, translateOpening } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { Transactions } from './transactions.ts'
import { writeSettings } from './write-settings.ts'

// For the ends of the tables and indexes, where small commits write.
const cacheKib = 4_096

/**
 * Makes small commits on the thread that asks for them, beside the writer, which has opened the file and moves the log into
 * it. Which commits those are is said in `commit-place.ts`.
 *
 * K1 It waits for nobody but the disk: where another program holds the file it gives the batch back, untouched.
 */
export class QuickWriter {
  readonly #connection: Connection
  readonly #transactions: Transactions

  constructor(path: string, pageCountMax: number | undefined) {
    const connection = new Connection(path, 'write now')
    try {
      connection.configure(writeSettings({ checkpointPages: 0, cacheKib, pageCountMax }))
      this.#transactions = new Transactions(connection, path)
    } catch (error) {
      connection.close()
      throw translateOpening(error, path)
    }
    this.#connection = connection
  }

  get commitMs(): number {
    return this.#transactions.commitMs
  }

  /** The verdicts, or undefined where another program holds the file. */
  apply(batch: PackedBatch, moment: Moment): Verdict[] | undefined {
    try {
      return this.#transactions.apply(batch, moment)
    } catch (error) {
      if (error instanceof Error && isBusy(error.cause)) return undefined
      throw error
    }
  }

  /** The writer has written. */
  forget(): void {
    this.#transactions.forget()
  }

  close(): void {
    this.#connection.close()
  }
}
