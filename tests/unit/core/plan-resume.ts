import type { StoredEvent } from '../../../src/core/event.ts'
import { type ResumePlan as Plan, ResumePlanning } from '../../../src/core/resume.ts'
import { standingAfter } from '../../../src/core/standing.ts'
import type { StepRecord } from '../../../src/core/step.ts'

export interface ResumePlan extends Plan {
  /** The emits that count, in order. */
  readonly counted: readonly StoredEvent[]
}

/** Plans the next attempt of a task whose events are at hand. */
export function planResume(
  startedSeq: number,
  events: readonly StoredEvent[],
  steps: readonly StepRecord[],
): ResumePlan {
  const planning = new ResumePlanning(startedSeq, steps, standingAfter(events))
  const counted = events.filter((event) => planning.add(event))
  return { ...planning.plan, counted }
}
