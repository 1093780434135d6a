import type { TaskId, ThreadKey } from './id.ts'
import type { QuestionRecord } from './question.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { Mail } from './unit.ts'

/** The live part of a thread as the store reads it: all that a structural decision needs. */
export interface LivePart {
  readonly key: ThreadKey
  readonly rev: number
  /** Runs in a row that were woken by results, with no prompt between. */
  readonly wakes: number
  /** Pending and running tasks, in the order of their acceptance. */
  readonly tasks: readonly TaskRecord[]
  /** Ended tasks for which `isAwaited` holds, in the order of their ends. */
  readonly ended: readonly TaskRecord[]
  /**
   * Further ends that nobody took, oldest first, as many as a wake takes. They may be any number and only a wake has a use for
   * them, so they are read for one, beside what a store reads.
   */
  readonly untaken?: readonly TaskRecord[]
  /** Unread messages to live tasks, in the order of their acceptance. */
  readonly mail: readonly Mail[]
  /** Questions of live tasks, open or with an end that their task has not taken, in the order in which they were asked. */
  readonly questions: readonly QuestionRecord[]
}

// A thread may hold any number of results that nobody took, and a woken run gets them as one message, which every watcher is
// sent and a model reads. So of those that did not ask for the wake it takes the oldest, as many as fit; the next takes more.

/** How many results one wake takes. Their ids stand in the event that accepts the run. */
export const wakeResultsMax = 1000
/** What they may take together, but for the last: as much as a request may bring by default. */
export const wakeBytesMax = 1024 * 1024

export function emptyPart(key: ThreadKey): LivePart {
  return { key, rev: 0, wakes: 0, tasks: [], ended: [], mail: [], questions: [] }
}

/**
 * Whether an ended task is still of use to a decision: a live parent has not read its end, or its end is to
 * wake the thread.
 */
export function isAwaited(record: TaskRecord, isLive: (task: TaskId) => boolean): boolean {
  if (record.taken || isRun(record)) return false
  return record.wake !== undefined || (record.parent?.task !== undefined && isLive(record.parent.task))
}
