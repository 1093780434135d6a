import type { TaskId } from './id.ts'
import { wakeBytesMax, wakeResultsMax } from './live-part.ts'
import { resultBytes } from './result.ts'
import type { TaskRecord } from './task.ts'

/** Ends that nobody took, the first that come: as many as one wake takes, and what it takes of them. */
export class Untaken {
  readonly #records = new Map<TaskId, TaskRecord>()
  #bytes = 0

  get isFull(): boolean {
    return this.#records.size >= wakeResultsMax || this.#bytes >= wakeBytesMax
  }

  /** What does not fit is left out. */
  add({ input: _notTaken, ...record }: TaskRecord): void {
    this.delete(record.id)
    if (this.isFull) return
    this.#records.set(record.id, record)
    this.#bytes += resultBytes(record)
  }

  delete(id: TaskId): void {
    const record = this.#records.get(id)
    if (!record) return
    this.#records.delete(id)
    this.#bytes -= resultBytes(record)
  }

  values(): IterableIterator<TaskRecord> {
    return this.#records.values()
  }
}
