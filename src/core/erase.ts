import { cancelInto } from './cancel.ts'
import type { Decision, Surroundings } from './decision.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { settle } from './settle.ts'
import type { CancelReason } from './task.ts'
import { UnitDraft } from './unit-draft.ts'

/**
 * Empties a thread in which nothing lives. Otherwise nothing is decided, and the answer is false: what lives is cancelled
 * first, and has to end. A thread never used has nothing to empty, and stays unknown to the store.
 */
export function erase(live: LiveThread, around: Surroundings): Decision<boolean> {
  if (!live.isIdle) return { value: false }
  if (live.rev === 0) return { value: true }
  const draft = new UnitDraft(live, around, 'erase')
  draft.erase()
  return { unit: draft.build(), value: true }
}

/** Removes a part of the log of a thread that is to be emptied and in which nothing lives; how much at a time is the store's to say. */
export function trimIdle(live: LiveThread, upTo: number): Decision<boolean> {
  if (!live.isIdle) return { value: false }
  return { unit: { operation: 'erase', thread: live.key, rev: live.rev, events: [], trim: upTo }, value: true }
}

/**
 * Cancels all that lives in a thread that is to be emptied, and answers with it. No end of it wakes the thread, nor does one
 * that nobody took: whoever deletes a conversation does not ask for another answer in it.
 */
export function cancelToErase(live: LiveThread, around: Surroundings, why: CancelReason): Decision<TaskId[]> {
  const draft = new UnitDraft(live, around, 'cancel')
  const reached = cancelInto(draft, { kind: 'all' }, why)
  // Built also if all of it is being cancelled already and there is nothing to write: the revision shows whether it still
  // lives. Whoever waits for its end would otherwise be told of it for ever, where another node has ended it.
  settle(draft)
  return { unit: draft.build(), value: reached }
}
