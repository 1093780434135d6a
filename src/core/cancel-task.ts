import { unreadBy } from './mail.ts'
import { userMessage } from './start.ts'
import { isTerminal } from './status.ts'
import { isRun, type TaskRecord } from './task.ts'
import { attachedTree } from './tree.ts'
import type { UnitDraft } from './unit-draft.ts'

/** Who cancelled, and why if they said so. */
export interface CancelReason {
  readonly by: string
  readonly reason?: string
}

/**
 * Adds the cancel of one task to a unit: a pending one ends at once, a running one is told once and ends by
 * itself or by force.
 */
export function cancelTask(draft: UnitDraft, target: TaskRecord, why: CancelReason): void {
  const record = draft.task(target.id) ?? target
  if (isTerminal(record.status) || record.cancelRequestedAt !== undefined) return
  if (record.status === 'pending') return endBeforeStart(draft, record, why)
  draft.put({ ...record, cancelRequestedAt: 0 }, 'cancelRequestedAt')
  draft.event('task.cancelling', { by: why.by, ...(why.reason !== undefined && { reason: why.reason }) }, record)
}

/** Never started, yet what was asked and how it ended are in the conversation. */
export function endBeforeStart(draft: UnitDraft, record: TaskRecord, why: CancelReason): void {
  userMessage(draft, record)
  if (isRun(record)) {
    draft.message({ id: `${record.id}.assistant`, role: 'assistant', parts: [], finish: 'cancelled' }, record)
  }
  const error = { code: 'cancelled', message: cancelMessage(why.reason) } as const
  const unread = unreadBy(draft, record.id)
  draft.put({ ...record, status: 'cancelled', ready: false, error, ...unread, endPlace: draft.live.rev }, 'completedAt')
  draft.event('task.cancelled', { error, ...unread }, record)
  draft.forget(record.id)
  cancelChildren(draft, record)
}

/** A task that ends, in any way, takes its live attached tree with it, in the same unit. */
export function cancelChildren(draft: UnitDraft, ended: TaskRecord): void {
  const [, ...tree] = attachedTree(draft.live, ended)
  for (const child of tree) cancelTask(draft, child, { by: ended.id, reason: `its parent ${ended.id} ended` })
}

export function cancelMessage(reason: string | undefined): string {
  return reason === undefined ? 'The task was cancelled' : `The task was cancelled: ${reason}`
}
