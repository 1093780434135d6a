import type { TaskId, ThreadKey } from '../core/id.ts'
import type { TaskRecord } from '../core/task.ts'
import type { TaskRef } from '../stores/claim.ts'
import type { AgentFunction } from './agent.ts'

interface Waiting {
  readonly key: ThreadKey
  readonly run: AgentFunction
  /** Else it was given one when it was accepted, though its commit may not be made yet. */
  readonly wantsSlot: boolean
}

/** The functions of tasks that live in this process only, each kept until its task starts. */
export class Closures {
  readonly #waiting = new Map<TaskId, Waiting>()

  keep({ id, key, status }: TaskRecord, run: AgentFunction): void {
    this.#waiting.set(id, { key, run, wantsSlot: status === 'pending' })
  }

  /** The function of a task that starts, handed out once. */
  take(task: TaskId): AgentFunction | undefined {
    const run = this.#waiting.get(task)?.run
    this.drop(task)
    return run
  }

  has(task: TaskId): boolean {
    return this.#waiting.has(task)
  }

  all(): TaskId[] {
    return [...this.#waiting.keys()]
  }

  drop(task: TaskId): void {
    this.#waiting.delete(task)
  }

  /** Tasks that want a slot, the oldest first, but for those of the threads that are left out. No store offers them. */
  waiting(countMax: number, except: readonly ThreadKey[]): TaskRef[] {
    const [waiting, left] = [[] as TaskRef[], new Set(except)]
    for (const [id, { key, wantsSlot }] of this.#waiting) {
      if (waiting.length === countMax) break
      if (wantsSlot && !left.has(key)) waiting.push({ id, key })
    }
    return waiting
  }
}
