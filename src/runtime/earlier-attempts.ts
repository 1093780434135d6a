import type { EventData } from '../core/event.ts'
import { PartsFold } from '../core/parts.ts'
import { type ResumePlan, ResumePlanning } from '../core/resume.ts'
import type { StepRecord } from '../core/step.ts'
import { addUsage, type TaskRecord, type Usage } from '../core/task.ts'
import type { Report } from '../core/unit.ts'
import { type EventReads, standsOf, taskPages } from './task-events.ts'

/** What of a task's earlier attempts counts. */
export interface EarlierAttempts {
  readonly plan: ResumePlan
  readonly output: PartsFold
  readonly report: Report
}

/** Reads what an orphan goes on from. Of its log no more than a page is kept, but for what counts. */
export async function readEarlierAttempts(
  store: EventReads,
  record: TaskRecord,
  steps: readonly StepRecord[],
): Promise<EarlierAttempts> {
  const planning = new ResumePlanning(record.startedSeq ?? 0, steps, await standsOf(store, record))
  const output = new PartsFold()
  let progress: number | undefined
  let usage: Usage | undefined
  // Before the first recorded step nothing counts, however much was emitted.
  const upTo = steps.length > 0 ? Number.MAX_SAFE_INTEGER : 0
  for await (const page of taskPages(store, record, { upTo })) {
    for (const event of page) {
      if (!planning.add(event)) continue
      output.add(event)
      if (event.type === 'progress') progress = (JSON.parse(event.data) as EventData['progress']).value
      if (event.type === 'usage') usage = addUsage(usage, JSON.parse(event.data) as Usage)
    }
  }
  const report = { ...(progress !== undefined && { progress }), ...(usage && { usage }) }
  return { plan: planning.plan, output, report }
}
