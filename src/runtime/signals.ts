import { type TaskId, type ThreadKey, taskId } from '../core/id.ts'
import type { TaskRecord } from '../core/task.ts'

/** Something that a waiting task wants to hear of: the end of a task, something new in an inbox, what came of its questions. */
export type Topic = `end:${string}` | `mail:${string}` | `questions:${string}`

export interface Listener {
  /** Resolves once the topic is heard of after `listen`, with the task if it is its end. */
  readonly heard: Promise<TaskRecord | undefined>
  stop(): void
}

type Hear = (ended: TaskRecord | undefined) => void

/**
 * Wakes what waits in this process. A hint: whoever waits listens first, looks into the store, and only then
 * waits, so nothing is missed in between.
 */
export class Signals {
  readonly #listeners = new Map<Topic, Set<Hear>>()
  /** Is told in which thread a task is whose end is waited for. */
  onLocated: (task: TaskId, thread: ThreadKey) => void = () => {}

  listen(topic: Topic): Listener {
    let hear: Hear = () => {}
    const heard = new Promise<TaskRecord | undefined>((resolve) => {
      hear = resolve
    })
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(hear))
    const stop = () => {
      listeners.delete(hear)
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic)
    }
    return { heard, stop }
  }

  /** A task whose end is listened for is in this thread. */
  locate(task: TaskId, thread: ThreadKey): void {
    this.onLocated(task, thread)
  }

  /** Tasks whose end somebody waits for. */
  awaitedEnds(): TaskId[] {
    const ends: TaskId[] = []
    for (const topic of this.#listeners.keys()) if (topic.startsWith('end:')) ends.push(taskId(topic.slice(4)))
    return ends
  }

  fire(topic: Topic, ended?: TaskRecord): void {
    const listeners = this.#listeners.get(topic)
    this.#listeners.delete(topic)
    for (const hear of listeners ?? []) hear(ended)
  }

  /** Nothing more will be heard of: whoever waits looks once more, and learns why. */
  close(): void {
    for (const topic of [...this.#listeners.keys()]) this.fire(topic)
  }
}
