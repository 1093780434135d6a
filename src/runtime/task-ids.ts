import { randomUUID } from 'node:crypto'
import { type TaskId, taskId, taskNumber } from '../core/id.ts'

/** Thrown while a batch is built when no number is at hand; the batch ends there and more are fetched. */
class OutOfTaskIds extends Error {}

// Most batches that accept something meet it, so it is made once: to take down where it was thrown is what would cost.
export const outOfTaskIds = new OutOfTaskIds('no task number is at hand')

/** Where the ids of new tasks come from. Ids that were not used are given out again, so that none is skipped. */
export interface TaskIds {
  take(): TaskId
  putBack(ids: readonly TaskId[]): void
  /** Fetches as many as are needed and no more, so that a restart leaves no number out. */
  refill(count: number): Promise<void>
  /** These belong to restored tasks: none of them is handed out any more. */
  reserve(ids: readonly TaskId[]): void
}

/** `bg_0`, `bg_1`, … over the installation. */
export class SequentialTaskIds implements TaskIds {
  readonly #allocate: (count: number) => Promise<number>
  #free: number[] = []
  /** The store allocates above a restored number once it is committed; until then it may hand that number out. */
  readonly #reserved = new Set<number>()

  constructor(allocate: (count: number) => Promise<number>) {
    this.#allocate = allocate
  }

  take(): TaskId {
    const number = this.#free.shift()
    if (number === undefined) throw outOfTaskIds
    return taskId(`bg_${number}`)
  }

  putBack(ids: readonly TaskId[]): void {
    this.#add(ids.map((id) => Number(id.slice('bg_'.length))))
  }

  async refill(count: number): Promise<void> {
    const first = await this.#allocate(count)
    this.#add(Array.from({ length: count }, (_, i) => first + i))
  }

  /** Lower numbers at hand are given up with them, so that the next task comes after the restored ones. */
  reserve(ids: readonly TaskId[]): void {
    const numbers = ids.flatMap((id) => taskNumber(id) ?? [])
    for (const number of numbers) this.#reserved.add(number)
    const highest = numbers.reduce((max, number) => Math.max(max, number), -1)
    this.#free = this.#free.filter((number) => number > highest)
  }

  #add(numbers: readonly number[]): void {
    const usable = numbers.filter((number) => !this.#reserved.has(number))
    this.#free = [...this.#free, ...usable].sort((a, b) => a - b)
  }
}

/** `bg_` and a number that nobody can guess. There are always more of them. */
export const randomTaskIds: TaskIds = {
  take: () => taskId(`bg_${randomUUID().replaceAll('-', '')}`),
  putBack: () => {},
  refill: async () => {},
  reserve: () => {},
}
