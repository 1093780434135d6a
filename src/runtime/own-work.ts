import type { TaskId } from '../core/id.ts'
import { headStartMs } from '../stores/claim.ts'
import type { Clock } from './clock.ts'

// Longer than a store leaves them to this node alone. What others have started meanwhile is in the way of what is young.
const keptMs = 2 * headStartMs

/** What came to wait for a slot by this node's own commits, a moment ago. It is a hint: what is not in it is started all the same. */
export class OwnWork {
  readonly #clock: Clock
  /** When they came, oldest first. */
  readonly #tasks = new Map<TaskId, number>()
  #takesAll = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(tasks: readonly TaskId[]): void {
    for (const task of tasks) {
      // To the end, where the youngest are.
      this.#tasks.delete(task)
      this.#tasks.set(task, this.#clock.now())
    }
    this.#forget()
  }

  /** It waits no longer. */
  drop(task: TaskId): void {
    this.#tasks.delete(task)
  }

  /** The next look leaves nothing to others. */
  takeAll(): void {
    this.#takesAll = true
  }

  /** The oldest of them, for a look that leaves to other nodes what is theirs; undefined if this one does not. */
  forLook(countMax: number): TaskId[] | undefined {
    const takesAll = this.#takesAll
    this.#takesAll = false
    this.#forget()
    return takesAll ? undefined : [...this.#tasks.keys()].slice(0, countMax)
  }

  #forget(): void {
    const now = this.#clock.now()
    for (const [task, at] of this.#tasks) {
      const age = now - at
      if (age >= 0 && age < keptMs) return
      this.#tasks.delete(task)
    }
  }
}
