import type { TaskId, ThreadId } from './id.ts'
import type { Message, Part } from './message.ts'
import type { Question } from './question.ts'
import type { Task } from './task.ts'

/** A thread as it is at `head`: the last messages, all live tasks and the last that ended, what is put out so far. */
export interface ThreadSnapshot {
  readonly thread: ThreadId
  readonly head: number
  /** The lowest number that is kept. */
  readonly first: number
  /** Streams and attachments on the node that answered. */
  readonly watchers: number
  readonly messages: readonly Message[]
  readonly tasks: readonly Task[]
  /** What every running task has put out so far. */
  readonly live: readonly { readonly task: TaskId; readonly parts: readonly Part[] }[]
  /** Those that are open. */
  readonly questions: readonly Question[]
}
