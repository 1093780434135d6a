import type { EventDraft } from './event.ts'
import type { HookPut } from './hook.ts'
import type { JsonText, TaskId, ThreadKey } from './id.ts'
import type { Finish, Role } from './message.ts'
import type { QuestionRecord } from './question.ts'
import type { StepRecord } from './step.ts'
import type { TaskRecord, Usage } from './task.ts'

/** What a unit does, as metrics and logs name it. */
export const operations = [
  'accept',
  'start',
  'takeover',
  'resume',
  'emit',
  'step',
  'cancel',
  'send',
  'ask',
  'answer',
  'end',
  'collect',
  'release',
  'restore',
  'erase',
  'trim',
  'hook',
] as const

export type Operation = (typeof operations)[number]

/** A field of a task record that the store sets at the commit: instants to its clock, `startedSeq` to the unit's last number. */
export type Stamp = 'createdAt' | 'cancelRequestedAt' | 'startedAt' | 'completedAt' | 'startedSeq'

export interface TaskPut {
  readonly record: TaskRecord
  readonly isNew: boolean
  readonly stamps: readonly Stamp[]
  /**
   * What of the report the record decides; absent in it means none. The rest of the report stays as it is stored, because it
   * moves without the revision: the record may have been decided from an older one. A new record decides all of it.
   */
  readonly reports?: readonly (keyof Report)[]
}

/** A message row. Its number and instant are those of the event at `event` in the unit. */
export interface MessagePut {
  readonly id: string
  readonly role: Role
  readonly parts: JsonText
  readonly finish?: Finish
  readonly task?: TaskId
  readonly event: number
}

/** A message to a task that it has not read. */
export interface Mail {
  readonly id: string
  readonly task: TaskId
  /** Its place of acceptance in the thread. */
  readonly place: number
  readonly by?: string
  readonly from?: string
  readonly content: JsonText
  /** A steering prompt: the request it becomes a run of if nobody reads it. */
  readonly steer?: JsonText
  /** Not a message but the end of this child, whose result was collected before its parent read of it. */
  readonly ended?: TaskId
}

/** A question that is asked, or what came of it. `stamp` is the field that the store sets to its clock at the commit. */
export interface QuestionPut {
  readonly record: QuestionRecord
  readonly isNew: boolean
  readonly stamp?: 'askedAt' | 'answeredAt'
}

export interface IdempotencyKey {
  readonly key: string
  /** Of route, thread and body: the same key with another digest is a conflict. Of what steered, with the id of the message. */
  readonly digest: string
  readonly task: TaskId
}

/** The execution that writes: its task under its epoch. */
export interface Fence {
  readonly task: TaskId
  readonly epoch: number
}

/** What a task has reported of itself by now. */
export interface Report {
  readonly progress?: number
  readonly usage?: Usage
}

/**
 * What is committed whole or not at all. It belongs to one thread.
 *
 * A *structural* unit was decided from the thread's live part (tasks, mail) at revision `rev`; it is refused
 * as `stale` if the thread has another revision by now, and raises it by one. An *executing* unit carries a
 * fence; it is refused as `fenced` unless that task runs with that epoch. A unit may be both.
 */
export interface Unit {
  readonly operation: Operation
  readonly thread: ThreadKey
  readonly rev?: number
  readonly fence?: Fence
  /** A takeover: refused as `leased` if this node holds a lease after all. */
  readonly lapsed?: string
  readonly events: readonly EventDraft[]
  readonly tasks?: readonly TaskPut[]
  /** What the fenced task has reported. */
  readonly report?: Report
  readonly messages?: readonly MessagePut[]
  readonly mail?: readonly Mail[]
  /** Messages that were read. */
  readonly read?: readonly string[]
  readonly questions?: readonly QuestionPut[]
  /** Results to take. The verdict names those that were there to be taken. */
  readonly take?: readonly TaskId[]
  readonly steps?: readonly StepRecord[]
  /** What is owed to `onEnded`, or became of it. One that names a task which is not of the thread, or lives, is no error: it changes nothing. */
  readonly hooks?: readonly HookPut[]
  /** Tasks whose steps and unread messages are of no more use. */
  readonly forget?: readonly TaskId[]
  readonly key?: IdempotencyKey
  /** Only asks whether the principal used this idempotency key: refused either way, as `key_taken` or `key_free`. */
  readonly askKey?: string
  /** Runs in a row that were woken by results, with no prompt between. */
  readonly wakes?: number
  /**
   * Empties the thread before anything else of the unit is written: its events, messages, tasks with all that hangs on them
   * (inputs, results, steps, unread mail, questions) and the idempotency keys that name those tasks are gone, and `wakes` is 0. What it
   * held is as if it had never been, but that numbers and ids go on: the head stays, the lowest kept number is head + 1,
   * the revision is raised as by any structural unit, and no task id is allocated again. The thread is not listed until
   * it has an event again. A task that was there is unknown from here on, so whatever still writes for it is `fenced`.
   *
   * It is structural and says nothing of live tasks: that there are none is decided in `core/`. A store that keeps files
   * leaves no byte of the content in any of them. What keeps it from that, such as another program that reads them, does
   * not undo the erase: the rest is done with a later commit, or when the store is opened again.
   */
  readonly erase?: true
  /** With `erase`: what is removed need not be gone from the files, because it was to make room and not to hide anything. */
  readonly leavesTraces?: true
  /**
   * Removes at most so many tasks of the thread, with all that hangs on them as an erase does and the messages that were said in
   * them, and nothing else. The verdict says how many it were. It is structural; that they are of no more use to anybody is decided in `core/`.
   */
  readonly eraseTasks?: number
  /**
   * Removes the front of the log: whole rows, as the store keeps them, none of which holds a number above this one; as many
   * as take a moment, and at least one if there is one. The verdict says how many events that were; asked again, it goes on.
   * The lowest kept number moves behind them, and nothing else changes: messages and tasks stay as they are.
   *
   * It says nothing of what has to be kept: that is decided in `core/`, and holds at any later revision, so a trim carries
   * none. One that finds nothing to remove writes nothing.
   */
  readonly trim?: number
}

/** A unit was committed: the number of its first event, the instant, and the results that it took. */
export interface Committed {
  readonly committed: true
  readonly first: number
  readonly at: number
  readonly taken: readonly TaskId[]
  /** What a unit that trims or erases has removed. */
  readonly removed?: Removed
}

export interface Removed {
  readonly events: number
  readonly tasks: number
}

export type Verdict = Committed | { readonly committed: false; readonly reason: Refusal }

export type Refusal =
  /** The thread's revision is another: read it again and decide anew. */
  | { readonly code: 'stale' }
  /** The task has ended, or is executed under another epoch: stop. */
  | { readonly code: 'fenced' }
  /** The node to be taken over from holds a lease. */
  | { readonly code: 'leased' }
  /** An earlier unit of the same task and epoch in the batch was refused. */
  | { readonly code: 'after_refused' }
  /** The principal has used this idempotency key before. */
  | { readonly code: 'key_taken'; readonly task: TaskId; readonly digest: string }
  /** The principal has not used the idempotency key that was asked for. */
  | { readonly code: 'key_free' }
