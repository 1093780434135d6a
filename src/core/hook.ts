import type { TaskId } from './id.ts'
import { errorText } from './outcome.ts'

/**
 * What is known of the calls of `onEnded` for an ended task. There is none while it lives, and none once a call was answered:
 * it is there as long as a call is owed, and stays when it was given up.
 *
 * O1 It is owed from the unit that ends the task on, so no crash loses it.
 * O2 It is paid by a unit of its own, after the call was answered: a crash in between means another call.
 * O3 It moves without the revision of the thread and no decision looks at it, so a put never writes it.
 */
export interface HookRecord {
  /** Calls that failed. */
  readonly attempts: number
  /** How the last of them failed. */
  readonly error?: string
  /** When it is called next, by the store's clock. Absent if it was given up. */
  readonly nextAt?: number
}

/** What becomes of a task's hook; without `hook` it is paid. `stamp` is the field that the store sets to its clock at the commit. */
export interface HookPut {
  readonly task: TaskId
  readonly hook?: HookRecord
  readonly stamp?: 'nextAt'
}

/** What the end of a task owes, at once. */
export function owing(task: TaskId): HookPut {
  return { task, hook: { attempts: 0, nextAt: 0 }, stamp: 'nextAt' }
}

/** The hook as a put leaves it. */
export function putHook({ hook, stamp }: HookPut, at: number): HookRecord | undefined {
  return hook && stamp ? { ...hook, [stamp]: at } : hook
}

/** A record with this hook, or with none. */
export function withHook<Holder extends { readonly hook?: HookRecord }>(
  { hook: _before, ...rest }: Holder,
  hook: HookRecord | undefined,
): Holder {
  return { ...rest, ...(hook && { hook }) } as Holder
}

// The first failure is often over in a moment; a receiver that is down for longer wants to be left alone.
const delayMsMin = 1000
const delayMsMax = 10 * 60 * 1000
// At the longest delay that is about three days of trying: longer than a weekend on which nobody looks.
const attemptsMax = 440
// Of the delay, so that those that failed together do not come back together.
const jitter = 0.2

/** The hook after a call has failed: when it is tried again, or that it is given up. `random` is from 0 to 1. */
export function afterFailure(attempts: number, error: unknown, now: number, random: number): HookRecord {
  const failed = { attempts, error: oneLineOf(error) }
  if (attempts >= attemptsMax) return failed
  const delayMs = Math.min(delayMsMax, delayMsMin * 2 ** (attempts - 1))
  return { ...failed, nextAt: Math.ceil(now + delayMs * (1 - jitter * random)) }
}

// It is shown in every list that shows the task.
const errorLengthMax = 500

function oneLineOf(error: unknown): string {
  return errorText(error, 'onEnded')
    .split(/[\r\n]/, 1)
    .join('')
    .slice(0, errorLengthMax)
}

/** What does not change from call to call, also over restarts, and belongs to no other end: a receiver knows a second call by it. */
export function hookKey(id: TaskId, completedAt = 0): string {
  return `${id}.ended.${completedAt}`
}
