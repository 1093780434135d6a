import type { TaskRecord } from './task.ts'
import type { UnitDraft } from './unit-draft.ts'

/** Of the tasks meant, those that live and those that ended wake the thread no more: their results wait to be collected. */
export function disarm(draft: UnitDraft, isMeant: (record: TaskRecord) => boolean = () => true): void {
  for (const record of [...draft.tasks(), ...draft.ended()]) {
    if (record.wake === undefined || !isMeant(record)) continue
    const { wake: _disarmed, wakeRun: _of, ...rest } = record
    draft.put(rest)
  }
}
