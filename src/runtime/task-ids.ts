import { randomUUID } from 'node:crypto'
import { type TaskId, taskId, taskNumber } from '../core/id.ts'
import type { Store } from '../stores/store.ts'

/** Thrown while a batch is built when no number is at hand; the batch ends there and more are fetched. */
class OutOfTaskIds extends Error {}

// Most batches that accept something meet it, so it is made once: to take down where it was thrown is what would cost.
export const outOfTaskIds = new OutOfTaskIds('no task number is at hand')

/** Where the ids of new tasks come from. Ids that were not used are given out again, so that none is skipped. */
export interface TaskIds {
  take(): TaskId
  putBack(ids: readonly TaskId[]): void
  /** Another node has used what was handed out here, as a restore does: so it may be with all that is at hand. */
  giveUp(): void
  /** Fetches as many as are needed. */
  refill(count: number): Promise<void>
  /** These belong to restored tasks: none of them is handed out any more. */
  reserve(ids: readonly TaskId[]): void
}

export function taskIdsOf(store: Store, kind: 'sequential' | 'random' = 'sequential'): TaskIds {
  if (kind === 'random') return randomTaskIds
  return new SequentialTaskIds((count) => store.allocate(count), { fetchesAhead: store.isShared })
}

// A node that needs fewer at once fetches what it needs, so that a restart leaves no number out.
const aheadCountMin = 16

/**
 * `bg_0`, `bg_1`, … over the installation. Where a fetch waits for a server, a node under load has the numbers of its next batch
 * fetched while it commits this one; a restart then leaves out those that are at hand.
 */
export class SequentialTaskIds implements TaskIds {
  readonly #allocate: (count: number) => Promise<number>
  readonly #fetchesAhead: boolean
  #free: number[] = []
  /** How many were needed at once. */
  #pace = 0
  #isFetchingAhead = false
  /** How often numbers were given up. Those that were on their way are given up with them. */
  #round = 0
  /** The store allocates above a restored number once it is committed; until then it may hand that number out. */
  readonly #reserved = new Set<number>()

  constructor(allocate: (count: number) => Promise<number>, { fetchesAhead = false } = {}) {
    this.#allocate = allocate
    this.#fetchesAhead = fetchesAhead
  }

  take(): TaskId {
    const number = this.#free.shift()
    if (number === undefined) throw outOfTaskIds
    if (this.#pace >= aheadCountMin && this.#free.length < this.#pace) void this.#fetchAhead()
    return taskId(`bg_${number}`)
  }

  putBack(ids: readonly TaskId[]): void {
    this.#add(ids.map((id) => Number(id.slice('bg_'.length))))
  }

  giveUp(): void {
    this.#free = []
    this.#round += 1
  }

  async refill(count: number): Promise<void> {
    this.#add(await this.#fetch(count))
    if (this.#fetchesAhead) this.#pace = count
  }

  /** Lower numbers at hand are given up with them, so that the next task comes after the restored ones. */
  reserve(ids: readonly TaskId[]): void {
    const numbers = ids.flatMap((id) => taskNumber(id) ?? [])
    for (const number of numbers) this.#reserved.add(number)
    const highest = numbers.reduce((max, number) => Math.max(max, number), -1)
    this.#free = this.#free.filter((number) => number > highest)
    this.#round += 1
  }

  async #fetch(count: number): Promise<number[]> {
    const first = await this.#allocate(count)
    return Array.from({ length: count }, (_, i) => first + i)
  }

  async #fetchAhead(): Promise<void> {
    if (this.#isFetchingAhead) return
    this.#isFetchingAhead = true
    const round = this.#round
    try {
      const numbers = await this.#fetch(this.#pace)
      if (round === this.#round) this.#add(numbers)
    } catch {
      // Whoever runs out of them asks again, and is told.
    } finally {
      this.#isFetchingAhead = false
    }
  }

  #add(numbers: readonly number[]): void {
    const usable = numbers.filter((number) => !this.#reserved.has(number))
    this.#free = [...this.#free, ...usable].sort((a, b) => a - b)
  }
}

/** `bg_` and a number that nobody can guess. There are always more of them. */
const randomTaskIds: TaskIds = {
  take: () => taskId(`bg_${randomUUID().replaceAll('-', '')}`),
  putBack: () => {},
  giveUp: () => {},
  refill: async () => {},
  reserve: () => {},
}
