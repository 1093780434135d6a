import { unreadBy } from './mail.ts'
import { userMessage } from './start.ts'
import { isTerminal } from './status.ts'
import { type CancelReason, isRun, type TaskRecord } from './task.ts'
import { attachedTree } from './tree.ts'
import type { UnitDraft } from './unit-draft.ts'

/**
 * Adds the cancel of one task to a unit: a pending one ends at once, a running one is told once and ends by
 * itself or by force. `isMeant` says that it was asked for of this very task, and not of one above it.
 */
export function cancelTask(draft: UnitDraft, target: TaskRecord, why: CancelReason, isMeant: boolean): void {
  const record = draft.task(target.id) ?? target
  if (isTerminal(record.status) || record.cancelRequestedAt !== undefined) return
  const { by, reason } = why
  const said = reason === undefined ? {} : { reason }
  if (record.status === 'pending') return endBeforeStart(draft, record, isMeant ? why : said)
  draft.put({ ...record, cancelRequestedAt: 0, ...(isMeant && { cancelReason: why }) }, 'cancelRequestedAt')
  draft.event('task.cancelling', { by, ...said }, record)
}

/** Never started, yet what was asked and how it ended are in the conversation. */
export function endBeforeStart(draft: UnitDraft, record: TaskRecord, why: Partial<CancelReason>): void {
  userMessage(draft, record)
  if (isRun(record)) {
    draft.message({ id: `${record.id}.assistant`, role: 'assistant', parts: [], finish: 'cancelled' }, record)
  }
  const error = { code: 'cancelled', message: cancelMessage(why) } as const
  const unread = unreadBy(draft, record.id)
  draft.put({ ...record, status: 'cancelled', ready: false, error, ...unread, endPlace: draft.live.rev }, 'completedAt')
  draft.event('task.cancelled', { error, ...unread }, record)
  draft.forget(record.id)
  cancelChildren(draft, record)
}

/** A task that ends, in any way, takes its live attached tree with it, in the same unit. */
export function cancelChildren(draft: UnitDraft, ended: TaskRecord): void {
  const [, ...tree] = attachedTree(draft.live, ended)
  for (const child of tree) {
    cancelTask(draft, child, { by: ended.id, reason: `its parent ${ended.id} ended` }, false)
  }
}

/** What the error of a cancelled task says. */
export function cancelMessage({ by, reason }: Partial<CancelReason> = {}): string {
  return `The task was cancelled${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`
}
