import { type TaskId, taskId } from '../core/id.ts'

/** Thrown while a batch is built when no number is at hand; the batch ends there and more are fetched. */
export class OutOfTaskIds extends Error {}

// As many as a batch of spawns may want, so that a burst asks the store a few times only.
const refillCount = 64

/** Where the ids of new tasks come from. Ids that were not used are given out again, so that none is skipped. */
export interface TaskIds {
  take(): TaskId
  putBack(ids: readonly TaskId[]): void
  refill(): Promise<void>
}

/** `bg_0`, `bg_1`, … over the installation. */
export class SequentialTaskIds implements TaskIds {
  readonly #allocate: (count: number) => Promise<number>
  #free: number[] = []

  constructor(allocate: (count: number) => Promise<number>) {
    this.#allocate = allocate
  }

  take(): TaskId {
    const number = this.#free.shift()
    if (number === undefined) throw new OutOfTaskIds('no task number is at hand')
    return taskId(`bg_${number}`)
  }

  putBack(ids: readonly TaskId[]): void {
    const numbers = ids.map((id) => Number(id.slice('bg_'.length)))
    this.#free = [...this.#free, ...numbers].sort((a, b) => a - b)
  }

  async refill(): Promise<void> {
    const first = await this.#allocate(refillCount)
    for (let i = 0; i < refillCount; i++) this.#free.push(first + i)
  }

  /** Forgets numbers at hand that restored tasks may have taken. */
  clear(): void {
    this.#free = []
  }
}
