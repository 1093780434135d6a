import type { Decision } from './decision.ts'
import { HoldfastError } from './errors.ts'
import type { LiveThread } from './live-thread.ts'
import type { TaskRecord } from './task.ts'

/** How long things are kept. What is not named is kept for ever. */
export interface Retention {
  /** Events older than this go from the front of their thread's log. */
  readonly eventsMs?: number
  /** At most so many events of a thread are kept: its newest. */
  readonly eventsPerThread?: number
  /** A thread in which nothing has happened for this long goes as a whole. */
  readonly threadsMs?: number
}

/**
 * What retention never passes.
 *
 * K1 The first event of a live task. An unread message and an open question are of a live task and came after its first
 *    event, so they are behind it as well.
 * K2 The first event of an ended task whose result nobody took.
 * K3 The newest event, until the whole thread goes: a thread without one is in no list, and what else it holds would be
 *    found by nobody.
 *
 * A thread goes as a whole only if nothing in it is owed to `onEnded`, where that is called.
 *
 * A task's first event is above the head that the log had before it, and a task is untaken only after it was live: so what is
 * protected only ever moves up. Bounds that were read some time ago are never beyond those that hold now, and a trim needs
 * no revision.
 */
export interface TrimBounds {
  /** The lowest number that the log kept when it was looked at. */
  readonly first: number
  /** The last number that may go by age or count. */
  readonly upTo: number
  /** The lowest number that untaken results protect (K2). */
  readonly protectedFrom: number
}

/** Removes a part of the log's front; how much at a time is the store's to say. False if there is nothing to remove. */
export function trim(live: LiveThread, { first, upTo, protectedFrom }: TrimBounds): Decision<boolean> {
  const bound = Math.min(upTo, protectedFrom - 1, protectedBy(live.tasks()) - 1, protectedBy(live.ended()) - 1)
  if (bound < first) return { value: false }
  return { unit: { operation: 'trim', thread: live.key, events: [], trim: bound }, value: true }
}

/** The lowest number that these tasks protect. One whose acceptance is being committed has no number yet, but a later one. */
export function protectedBy(tasks: Iterable<TaskRecord>): number {
  let from = Number.POSITIVE_INFINITY
  for (const { firstSeq } of tasks) if (firstSeq > 0) from = Math.min(from, firstSeq)
  return from
}

/**
 * Empties a thread that was found to be old, idle and without untaken results at a revision. Another revision means that
 * something happened since, and then it stays.
 */
export function drop(live: LiveThread, rev: number): Decision<boolean> {
  if (live.rev !== rev || !live.isIdle) return { value: false }
  const unit = { operation: 'erase', thread: live.key, rev, events: [], erase: true, leavesTraces: true } as const
  return { unit, value: true }
}

// As many as a store removes in a few milliseconds.
const dropTasksMax = 100

/** Removes some tasks of a thread that is about to be dropped, under the same condition, so that little is left for the drop. */
export function dropTasks(live: LiveThread, rev: number): Decision<boolean> {
  if (live.rev !== rev || !live.isIdle) return { value: false }
  const unit = { operation: 'erase', thread: live.key, rev, events: [], eraseTasks: dropTasksMax } as const
  return { unit, value: true }
}

/** What is given of a retention, checked. A policy that removes by itself needs more care than somebody who asks. */
export function checkedRetention({ eventsMs, eventsPerThread, threadsMs }: Retention): Retention {
  const given = { eventsMs, eventsPerThread, threadsMs }
  const wrong = Object.entries(given).find(([, value]) => value !== undefined && !isCount(value))
  if (wrong) throw new HoldfastError('invalid_request', `${wrong[0]} is a whole number from 1 on`)
  return {
    ...(eventsMs !== undefined && { eventsMs }),
    ...(eventsPerThread !== undefined && { eventsPerThread }),
    ...(threadsMs !== undefined && { threadsMs }),
  }
}

// Idempotency keys go with their threads, and are promised for this long.
const policyThreadsMsMin = 24 * 60 * 60 * 1000

/** What a node applies by itself. */
export function checkedPolicy(given: Retention): Retention {
  const policy = checkedRetention(given)
  if (policy.threadsMs === undefined || policy.threadsMs >= policyThreadsMsMin) return policy
  const message = `threadsMs of a policy is at least ${policyThreadsMsMin}, a day, because idempotency keys are kept as long`
  throw new HoldfastError('invalid_request', message)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}
