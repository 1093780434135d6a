import type { Moment } from './batch.ts'
import { type Applied, BatchWrites } from './batch-writes.ts'
import { Connection } from './connection.ts'
import { isBusy, translateOpening } from './failure.ts'
import type { PackedBatch } from './packed-batch.ts'
import { writeSettings } from './write-settings.ts'

// For the ends of the tables and indexes, where small commits write.
const cacheKib = 4_096
// Eight rows with a page each. What is removed is overwritten, and the rule does not see it: it is small beside the pages that a
// commit counts for there.
const removedBytesMax = 32_768

/**
 * Makes small commits on the thread that asks for them, beside the writer, which has opened the file and moves the log into
 * it. Which commits those are is said in `committer-rule.ts`.
 *
 * K1 It waits for nobody but the disk: where another program holds the file it gives the batch back, untouched.
 * K2 It removes no more than a few rows. How many steps and messages a task leaves is not in the batch that ends it, so it looks.
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

  /** Undefined if the batch is the writer's (K1, K2). */
  apply(batch: PackedBatch, moment: Moment): Applied | undefined {
    try {
      if (this.#writes.removesMoreThan(removedBytesMax, batch)) return undefined
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
