import { HoldfastError } from '../core/errors.ts'
import type { TaskId } from '../core/id.ts'
import { isTerminal } from '../core/status.ts'
import type { Asker } from './asker.ts'

/** How far a cancel reaches, and what is said of why. */
export interface CancelOptions {
  /** With all its attached descendants, at once. True unless given; else they follow when the task ends. */
  readonly tree?: boolean
  readonly reason?: string
  /** Only if the task is of this thread. */
  readonly thread?: string
}

export interface CancelThreadOptions {
  readonly scope?: 'runs' | 'all'
  readonly reason?: string
}

/** Why something is cancelled: said alone, or as where other options stand beside it. */
export type Why = string | { readonly reason?: string }

export function reasonIn(why: Why | undefined): { readonly reason?: string } {
  const reason = why instanceof Object ? why.reason : why
  return reason === undefined ? {} : { reason }
}

/** Every task in reach that had not ended. */
export async function cancelThread(
  { intake, reads, principal }: Asker,
  thread: string,
  { scope = 'runs', reason }: CancelThreadOptions,
): Promise<readonly TaskId[]> {
  const key = reads.key(thread)
  if (scope !== 'runs' && scope !== 'all') throw new HoldfastError('invalid_request', 'A scope is runs or all')
  return intake.cancel(key, { kind: scope }, principal, reason)
}

/** Undefined if there is no such task; else every task in reach that had not ended, none if it had. */
export async function cancelTask(
  { intake, reads, principal }: Asker,
  task: string,
  { tree = true, reason, thread }: CancelOptions,
): Promise<readonly TaskId[] | undefined> {
  if (typeof tree !== 'boolean') throw new HoldfastError('invalid_request', 'tree is true or false')
  const key = thread === undefined ? undefined : reads.key(thread)
  const record = await reads.record(task)
  if (!record || (key !== undefined && record.key !== key)) return undefined
  if (isTerminal(record.status)) return []
  return intake.cancel(record.key, { kind: tree ? 'tree' : 'task', task: record.id }, principal, reason)
}
