import type { Moment } from './batch.ts'
import { type Applied, BatchWrites } from './batch-writes.ts'
import { Connection } from './connection.ts'
import { isBusy, translateOpening } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { writeSettings } from './write-settings.ts'

// For the ends of the tables and indexes, where small commits write.
const cacheKib = 4_096

/**
 * Makes small commits on the thread that asks for them, beside the writer, which has opened the file and moves the log into
 * it. Which commits those are is said in `committer-rule.ts`.
 *
 * K1 It waits for nobody but the disk: where another program holds the file it gives the batch back, untouched.
 */
export class QuickWriter {
  readonly #connection: Connection
  readonly #writes: BatchWrites

  constructor(path: string, pageCountMax: number | undefined) {
    const connection = new Connection(path, 'write now')
    try {
      connection.configure(writeSettings({ checkpointPages: 0, cacheKib, pageCountMax }))
      this.#writes = new BatchWrites(connection, path)
    } catch (error) {
      connection.close()
      throw translateOpening(error, path)
    }
    this.#connection = connection
  }

  /** Undefined where another program holds the file. */
  apply(batch: PackedBatch, moment: Moment): Applied | undefined {
    try {
      return this.#writes.apply(batch, moment)
    } catch (error) {
      if (error instanceof Error && isBusy(error.cause)) return undefined
      throw error
    }
  }

  /** The writer has written. */
  forget(): void {
    this.#writes.forget()
  }

  close(): void {
    this.#connection.close()
  }
}
