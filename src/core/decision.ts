import type { TaskId } from './id.ts'
import type { Limits } from './limits.ts'
import type { TaskRecord } from './task.ts'
import type { Unit } from './unit.ts'

/** What a decision may use besides the thread. Calls are made while a batch is built, so none of them waits. */
export interface Surroundings {
  /** The node that decides. */
  readonly node: string
  readonly limits: Limits
  newTaskId(): TaskId
  /** Takes a slot to run this new task on this node at once; false if there is none or it cannot run here. */
  takeSlot(task: TaskRecord): boolean
  /** Whether the end of a task is owed to `onEnded`. */
  readonly hasHook?: boolean
  /** The version that an agent states, if it does. */
  versionOf(agent: string | undefined): string | undefined
}

/** What to commit, if anything, and what to answer once it is. A broken precondition is thrown instead. */
export interface Decision<Value> {
  readonly unit?: Unit
  readonly value: Value
}
