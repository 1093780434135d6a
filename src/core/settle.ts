import { acceptInto, type TaskRequest } from './accept.ts'
import { disarm } from './disarm.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { UnitDraft } from './unit-draft.ts'
import { wake } from './wake.ts'

/**
 * What follows from a task having ended, in the same unit: steering that an ended run never read becomes a run,
 * the next run of the queue may start, and untaken results wake an idle thread.
 */
export function settle(draft: UnitDraft): void {
  for (const record of draft.endedHere()) {
    if (!isRun(record)) continue
    becomeRuns(draft, record)
    // A cancelled run wakes nobody, though its detached tasks keep running.
    if (record.status === 'cancelled') disarm(draft, ({ wakeRun }) => wakeRun === record.id)
  }
  promote(draft)
  wake(draft)
}

function becomeRuns(draft: UnitDraft, ended: TaskRecord): void {
  for (const mail of draft.live.mailOf(ended.id)) {
    if (mail.steer === undefined || draft.isRead(mail.id)) continue
    acceptInto(draft, JSON.parse(mail.steer) as TaskRequest, mail.place, mail.id)
    draft.readMail(mail.id)
  }
}

function promote(draft: UnitDraft): void {
  const next = draft.runs()[0]
  if (next?.status === 'pending' && !next.ready) draft.put({ ...next, ready: true })
}
