import type { TaskId } from '../core/id.ts'

// What keeps a node from reading for moments, such as a lack of connections, is over by then. While the store is away nothing is
// tried, so time alone says nothing.
const tryingMsMin = 60_000
const triesMin = 10
// Some are ended by other nodes. What is forgotten is tried for longer, and that is all.
const logsMax = 1_000

/** How often, and since when, the logs of tasks that are to end could not be read. */
export class UnreadableLogs {
  readonly #now: () => number
  /** The one that was tried longest ago first. */
  readonly #failures = new Map<TaskId, { readonly since: number; readonly count: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** It failed once more. Whether it was tried often and long enough to give it up. */
  failsForGood(task: TaskId): boolean {
    const { since, count } = this.#failures.get(task) ?? { since: this.#now(), count: 0 }
    this.#failures.delete(task)
    const [oldest] = this.#failures.keys()
    if (this.#failures.size >= logsMax && oldest !== undefined) this.#failures.delete(oldest)
    this.#failures.set(task, { since, count: count + 1 })
    return count + 1 >= triesMin && this.#now() - since >= tryingMsMin
  }

  forget(task: TaskId): void {
    this.#failures.delete(task)
  }
}
