import type { TaskId } from '../../core/id.ts'
import type { TaskRecord } from '../../core/task.ts'

type Records = ReadonlyMap<TaskId, TaskRecord>

interface Gathering {
  readonly ids: Set<TaskId>
  readonly answer: Promise<Records>
}

/**
 * Reads single tasks, those that are asked for at the same time together.
 *
 * R1 One statement is on its way at a time; what is asked for meanwhile goes with the next. So answers come in the order of the
 *    questions, as they do from a store in this process: whoever sends ten messages at once reads the task ten times first.
 */
export class TaskReader {
  readonly #read: (ids: readonly TaskId[]) => Promise<Records>
  #next: Gathering | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(read: (ids: readonly TaskId[]) => Promise<Records>) {
    this.#read = read
  }

  async read(id: TaskId): Promise<TaskRecord | undefined> {
    this.#next ??= this.#gather()
    this.#next.ids.add(id)
    return (await this.#next.answer).get(id)
  }

  #gather(): Gathering {
    const ids = new Set<TaskId>()
    const answer = this.#last.then(() => {
      this.#next = undefined
      return this.#read([...ids])
    })
    this.#last = answer.catch(() => undefined)
    return { ids, answer }
  }
}
