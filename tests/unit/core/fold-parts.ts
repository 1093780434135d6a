import type { StoredEvent } from '../../../src/core/event.ts'
import { PartsFold } from '../../../src/core/parts.ts'
import { standingAfter } from '../../../src/core/standing.ts'

/** The events of one task that stand, in order. */
export function standing(events: readonly StoredEvent[]): StoredEvent[] {
  return events.filter(standingAfter(events))
}

/** Folds the events of one task, in order, leaving out what its resumes abandoned. */
export function foldParts(events: readonly StoredEvent[]): PartsFold {
  const fold = new PartsFold()
  for (const event of standing(events)) fold.add(event)
  return fold
}
