import { partTypes } from '../core/event.ts'
import type { TaskId } from '../core/id.ts'
import type { PartsFold } from '../core/parts.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { Executor } from './executor.ts'
import { addPages, readOutput, taskPages } from './task-events.ts'

export interface LiveOutputsParts {
  readonly store: Store
  readonly executor: Pick<Executor, 'get'>
}

interface Reading {
  readonly attempt: number
  readonly head: number
  readonly output: Promise<PartsFold>
}

/**
 * What running tasks have put out, for those who look at a thread.
 *
 * Of a task that another node executes it is read from the log, which may be long. Who asks while somebody reads begins where that
 * one ends, so that many who come at once read a log once. Nothing is kept when nobody reads.
 */
export class LiveOutputs {
  readonly #parts: LiveOutputsParts
  readonly #readings = new Map<TaskId, Reading>()

  constructor(parts: LiveOutputsParts) {
    this.#parts = parts
  }

  /** What a task had put out at a head: from its execution if that is here and not beyond, else from the log. Not to be changed. */
  at(record: TaskRecord, head: number): Promise<PartsFold> {
    const here = this.#parts.executor.get(record.id)?.committedOutput()
    if (here && here.seq <= head) return this.#goOn(record, here.output, here.seq, head)
    return this.#fromLog(record, head)
  }

  async #fromLog(record: TaskRecord, head: number): Promise<PartsFold> {
    const { id, attempt } = record
    const reading = { attempt, head, output: this.#read(record, head, this.#readings.get(id)) }
    this.#readings.set(id, reading)
    try {
      return await reading.output
    } finally {
      if (this.#readings.get(id) === reading) this.#readings.delete(id)
    }
  }

  async #read(record: TaskRecord, head: number, other: Reading | undefined): Promise<PartsFold> {
    // A resume between the two may have taken something back.
    if (!other || other.attempt !== record.attempt || other.head > head)
      return readOutput(this.#parts.store, record, head)
    const output = await other.output
    return other.head === head ? output : this.#goOn(record, output.clone(), other.head, head)
  }

  #goOn(record: TaskRecord, output: PartsFold, after: number, upTo: number): Promise<PartsFold> {
    return addPages(output, taskPages(this.#parts.store, record, { after, upTo, types: partTypes }))
  }
}
