import type { EventType, StoredEvent } from '../core/event.ts'
import type { EventRow } from '../core/event-row.ts'
import type { Principal, TaskId, ThreadId, ThreadKey } from '../core/id.ts'
import type { LivePart } from '../core/live-part.ts'
import type { Message } from '../core/message.ts'
import type { QuestionRecord } from '../core/question.ts'
import type { Status } from '../core/status.ts'
import type { StepRecord } from '../core/step.ts'
import type { ShownRecord, TaskRecord } from '../core/task.ts'
import type { Unit, Verdict } from '../core/unit.ts'
import type { ClaimQuery, Offer } from './claim.ts'

/** Units took a store longer than it gives them, again and again. Nothing of them is written. */
export class TooLong extends Error {}

/**
 * Where Holdfast keeps everything. Backends hold SQL and mapping, never rules: what may happen is decided in
 * `core/`, and a backend checks only what a unit asks it to check.
 *
 * P1 `commit` returns after its units are durable (as durable as the backend is), never before.
 * P2 A unit is committed whole or not at all, and its verdict says which. Units are taken in order.
 * P3 The events of a thread are numbered 1, 2, 3 … without a hole; numbers are allocated in the commit, and
 *    whoever sees number N can read all below N.
 * P4 `at` is the store's clock and never goes back within a thread.
 * P5 A structural unit is refused as `stale` unless the thread's revision is `rev`; an executing unit is
 *    refused as `fenced` unless its task is `running` with that epoch; a refused unit takes no number, refuses the later
 *    units of the same task and epoch in the batch (`after_refused`) and, if stale, the later structural ones of its thread
 *    (`stale`: they were decided after it, so a revision that fits does so by accident). It touches no other.
 * P6 Reads see every unit committed before they were called.
 */
export interface Store {
  /** What it is, for messages and `/readyz`. */
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** Whether a commit outlives the process. */
  readonly isDurable: boolean
  /** Whether several nodes may have it open: then what is remembered of a thread may be out of date at any moment. */
  readonly isShared: boolean
  /** The store's clock: leases, deadlines and instants are by it. */
  readonly clock: { now(): number }

  /**
   * Makes it ready: takes the lock, brings the schema up to date. A store that serves one node gives up all
   * leases here, because its lock proves that no other node lives. Rejects with `store_locked`,
   * `store_schema` or `store_unavailable`.
   */
  open(): Promise<void>
  close(): Promise<void>

  /**
   * An empty batch asks whether a commit could be made now.
   *
   * While nobody can tell whether it was written, as when a network has lost the answer, it neither resolves nor rejects. If
   * that lasts for some seconds of real time, or it cannot be reached, `onLate` is called, once, with the reason if
   * there is one. A store that always knows never calls it.
   *
   * Rejects with `store_unavailable` if nothing was written and it may work later, with `store_failed` if the
   * state of the disk is unknown (only stopping helps), with any other error if a unit at fault made the
   * backend fail the batch: nothing was written, and the caller takes the batch apart to find it. So it is with
   * `thread_locked` as well, but what is at fault is a thread, and its units may be written later; and with a `TooLong`, which is
   * of the time that the units took.
   */
  commit(units: readonly Unit[], onLate?: (why?: unknown) => void): Promise<Verdict[]>

  /** The first of `count` task numbers that no other call gets. */
  allocate(count: number): Promise<number>

  /** The live part of a thread, consistent at its revision; undefined for a thread never used. */
  livePart(key: ThreadKey): Promise<LivePart | undefined>

  /** A consistent picture of a thread at its head; undefined for a thread never used. */
  snapshot(key: ThreadKey, limits: SnapshotLimits): Promise<SnapshotRecords | undefined>

  /** The page of a thread's log after a number. Head and first are of the same moment as the page. */
  events(key: ThreadKey, query: EventQuery): Promise<EventPage>

  /** Messages in the order of their numbers. */
  messages(key: ThreadKey, query: MessageQuery): Promise<MessagePage>

  /** Cancels, messages and waits are decided by it, so it waits for nothing else that users read. */
  task(id: TaskId): Promise<TaskRecord | undefined>
  /** Newest first; the owed ones in the order in which they are due. */
  tasks(query: TaskQuery | OwedQuery): Promise<TaskPage>
  /** The principal's threads that have events, the one with the newest first; without a principal those of all, one by one. */
  threads(query: ThreadQuery): Promise<ThreadPage>
  /**
   * Questions in the order in which they were asked, the expired ones in the order of their expiry. Those and a single one are
   * decided by, and wait for nothing that users read.
   */
  questions(query: QuestionQuery): Promise<QuestionRecord[]>
  /**
   * What a task has recorded, in the order of recording; or of it only what was recorded last. A node is to go on by it: it waits
   * for nothing that users read.
   */
  steps(task: TaskId, which?: 'last'): Promise<StepRecord[]>

  /**
   * Offers work to a node, oldest first: pending tasks that may start and whose agent it has; and orphans, which are running
   * or closure tasks whose node holds no lease, if it can go on with them or end them (it has the agent, or they are
   * closures, or being cancelled). A store that several nodes share offers orphans only to a node that holds its own lease.
   * An offer is a hint; the commit that starts or takes over decides.
   *
   * Of an agent with a limit it offers no more to start than there is room for, and while there is none no orphan that would go
   * on: its `max` less what this node and those that hold a lease execute. What this node executes, and what it is offered, it
   * writes down for the claims of the others. However much of an agent waits for room, the offer has what others wait for.
   */
  claim(query: ClaimQuery): Promise<Offer>

  /**
   * Renews the lease of a node until `leaseMs` from now, by the store's clock, and forgets nodes whose lease ran out
   * long ago. With `leaseMs` 0 it gives the lease up. Says whether the lease was still held before.
   */
  renew(node: string, leaseMs: number): Promise<{ readonly wasHeld: boolean }>

  /**
   * Calls back when another node may have committed to a thread. A hint: it may be lost, repeated or late. Without `isChanged` only
   * its log has grown, and its revision is what it was; then `row` may say by what. Returns a function that ends it.
   */
  watch(listener: (key: ThreadKey, isChanged: boolean, row?: EventRow) => void): () => void

  /**
   * Of these threads those whose head or revision is another by now, and where they are; one never used, or without a row, is at
   * 0. In one look however many they are, so that it can be asked all the time: it finds what no hint told of.
   */
  moved(places: readonly ThreadPlace[]): Promise<readonly ThreadPlace[]>
}

/** How far a thread has come. */
export interface ThreadPlace {
  readonly key: ThreadKey
  readonly head: number
  readonly rev: number
}

export interface SnapshotLimits {
  readonly messages: number
  readonly endedTasks: number
  /**
   * What the inputs and results of ended tasks take together, and the messages as well, so that any thread can be shown; no limit
   * unless given. Tasks that ended before those that fit are without them, but for short ones. Of the messages there are fewer, at
   * least one. What is left out is not read either.
   */
  readonly bytesMax?: number
}

/** What a snapshot of a thread is made of. */
export interface SnapshotRecords {
  readonly head: number
  readonly first: number
  /** The last ones, in the order of their numbers. */
  readonly messages: readonly Message[]
  /** All live tasks and the last ended ones, oldest first. */
  readonly tasks: readonly ShownRecord[]
  /** Those that are open, in the order in which they were asked. */
  readonly questions: readonly QuestionRecord[]
}

export interface EventQuery {
  readonly after: number
  /** At most this many events; a backend may stop earlier, never at zero while there are more. */
  readonly limit: number
  /** Only this task's events, read within its own range of the log. */
  readonly task?: { readonly id: TaskId; readonly first: number; readonly last: number }
  /** Only events of these types. With `task` only. */
  readonly types?: readonly EventType[]
  /**
   * The caller takes rows of lines as they are stored. A backend that keeps such rows then gives them instead of events, as many as
   * make a `RowPage`, whatever the limit is. Without `task` only.
   */
  readonly asRows?: true
  /** With `task`: a node is to go on by it. It waits for nothing that users read. */
  readonly toDecide?: true
}

export interface EventPage {
  readonly head: number
  /** The lowest number that is still kept; head + 1 if nothing is. */
  readonly first: number
  readonly events: readonly StoredEvent[]
  /** What is on the page instead of events, if it was asked for as rows and they are kept so. */
  readonly rows?: readonly EventRow[]
  /** All that matches up to this number is in this or an earlier page. */
  readonly upTo: number
}

export interface MessageQuery {
  readonly after?: number
  /** Only messages up to this number. */
  readonly upTo?: number
  readonly limit: number
  /** Take the last of those that match instead of the first. */
  readonly fromEnd?: boolean
  /** The page ends before the message with which it would pass this, but has at least one. What is left out is not read either. */
  readonly bytesMax?: number
}

/** A part of a conversation. */
export interface MessagePage {
  readonly messages: readonly Message[]
  /** The number after which the next page begins; absent on the last, and on what is read from the end. */
  readonly cursor?: number
}

export interface TaskQuery {
  readonly principal: Principal
  readonly thread?: ThreadId
  readonly status?: readonly Status[]
  readonly type?: readonly string[]
  readonly name?: string
  readonly parent?: TaskId
  /** Only tasks that no task spawned. */
  readonly roots?: true
  /** Ended tasks that are not runs and whose result nobody took; oldest end first. */
  readonly untaken?: boolean
  /**
   * With `thread` and `untaken`: a node is to decide by it. It waits for nothing that users read, and a store may leave inputs out,
   * which no decision looks at.
   */
  readonly toDecide?: true
  /**
   * Without `untaken`: the page ends before the task with whose input and result it would pass this, but has at least one. What is
   * left out is not read either, and short ones need not be counted.
   */
  readonly bytesMax?: number
  /**
   * With `untaken`: results after those that take this much are left out and not read, but for short ones; inputs may be. Only for
   * whoever shows them.
   */
  readonly resultBytesMax?: number
  /** Where the page before ended. */
  readonly cursor?: string
  readonly limit: number
}

/** Ended tasks of all principals, or of one thread, for which a call of `onEnded` is owed and due. There is no cursor. */
export interface OwedQuery {
  readonly owedBy: number
  readonly key?: ThreadKey
  readonly limit: number
}

export interface TaskPage {
  readonly tasks: readonly ShownRecord[]
  readonly cursor?: string
}

export interface ThreadQuery {
  /** Left out by whoever sees to all threads, such as retention. */
  readonly principal?: Principal
  readonly cursor?: string
  readonly limit: number
}

/** A thread as lists show it: the numbers of its newest and of its oldest event. */
export interface ThreadSummary {
  /** Whose it is, where the threads of all are listed. */
  readonly principal?: Principal
  readonly thread: ThreadId
  readonly head: number
  readonly first: number
  /** The instant of its newest event. */
  readonly at: number
}

/** A page of threads. With a `cursor` there are more: ask again with it. */
export interface ThreadPage {
  readonly threads: readonly ThreadSummary[]
  readonly cursor?: string
}

/** One question, whatever came of it; or those of live tasks that are open: a principal's, or those that expired by an instant. */
export type QuestionQuery =
  | { readonly id: string }
  | { readonly principal: Principal; readonly thread?: ThreadId }
  | { readonly expiredAt: number; readonly limit: number }
