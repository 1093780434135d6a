import type { TaskId, ThreadKey } from '../core/id.ts'
import type { TaskRecord } from '../core/task.ts'
import type { TaskRef } from '../stores/claim.ts'
import type { AgentFunction } from './agent.ts'

/** The functions of tasks that live in this process only, each kept until its task starts. */
export class Closures {
  readonly #waiting = new Map<TaskId, { readonly record: TaskRecord; readonly run: AgentFunction }>()

  keep(record: TaskRecord, run: AgentFunction): void {
    this.#waiting.set(record.id, { record, run })
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

  /**
   * Tasks that have not started, the oldest first, but for those of the threads that are left out. No store offers them. One that was
   * given a slot when it was accepted is not among them, though its commit may not be made yet.
   */
  waiting(countMax: number, except: readonly ThreadKey[]): TaskRef[] {
    const [waiting, left] = [[] as TaskRef[], new Set(except)]
    for (const { record } of this.#waiting.values()) {
      if (waiting.length === countMax) break
      if (record.status === 'pending' && !left.has(record.key)) waiting.push({ id: record.id, key: record.key })
    }
    return waiting
  }
}
