import { foldTask } from '../../core/fold-task.ts'
import { isTerminal } from '../../core/status.ts'
import type { Task } from '../../core/task.ts'
import { tellsAll } from '../picture.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'

export interface TaskValue extends Loadable {
  /** Absent until it was read, and where there is none. `position` is left out: the queue of its thread has it. */
  readonly task?: Task
}

// What agents say is in the log of the thread, and changes nothing in the task.
const taskTypes: readonly string[] = [
  ...['started', 'resumed', 'cancelling'].map((word) => `task.${word}`),
  'progress',
  'usage',
]

export function taskBefore(initial: Task | undefined): TaskValue {
  return initial ? { task: initial, isLoading: false } : { isLoading: true }
}

/** One task, until it has ended. */
export class LiveTask {
  readonly live: LiveModel<TaskValue>
  readonly #parts: LiveParts
  readonly #id: string

  constructor(parts: LiveParts, id: string, initial: Task | undefined, onStopped: () => void) {
    this.#parts = parts
    this.#id = id
    this.live = new LiveModel({
      ...parts,
      initial: taskBefore(initial),
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  async #follow(following: Following<TaskValue>): Promise<void> {
    const { signal } = following
    // A second start, or one from what a server rendered, goes on from what is there; one after an error begins anew.
    const { task: known, error } = following.value
    let task = known && !error ? known : await this.#read(following)
    if (signal.aborted || isTerminal(task.status)) return
    const { id, thread, seq } = task
    const log = this.#parts.client.thread(thread).attach({ task: id, after: seq, types: taskTypes, signal })
    for await (const item of log) {
      if (item.type === 'notice') continue
      const folded = item.type === 'snapshot' ? undefined : foldTask(task, item)
      const isTold = item.type !== 'snapshot' && tellsAll(item, seq)
      task = folded && isTold ? folded : await this.#read(following)
      following.set({ task, isLoading: false })
    }
  }

  async #read(following: Following<TaskValue>): Promise<Task> {
    const { position: _left, ...task } = await this.#parts.client.get(this.#id, { signal: following.signal })
    following.set({ task, isLoading: false })
    return task
  }
}
