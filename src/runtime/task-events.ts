import { type EventType, partTypes, type StoredEvent } from '../core/event.ts'
import { PartsFold } from '../core/parts.ts'
import { type Stands, standingAfter } from '../core/standing.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import { checkGone } from './log-filter.ts'

// Large enough that it is mostly reading; a store that keeps pages short for the event loop's sake ends them earlier.
const pageEventsMax = 10_000

/** What logs are read by. */
export type EventReads = Pick<Store, 'events'>

/** Which events of a task: all unless something is given. */
export interface TaskStretch {
  readonly after?: number
  readonly upTo?: number
  readonly types?: readonly EventType[]
}

/**
 * The events of a task, page by page: a run may have any number of them, so nobody who reads them keeps more than a page.
 * Rejects with `offset_gone` if some are gone, which they cannot be while the task lives.
 */
export async function* taskPages(
  store: EventReads,
  record: TaskRecord,
  { after = 0, upTo = Number.MAX_SAFE_INTEGER, types }: TaskStretch = {},
): AsyncGenerator<readonly StoredEvent[]> {
  const task = { id: record.id, first: record.firstSeq, last: upTo }
  for (let cursor = Math.max(after, record.firstSeq - 1, 0); cursor < upTo; ) {
    const query = { after: cursor, limit: pageEventsMax, task, ...(types && { types }) }
    const page = await store.events(record.key, query)
    checkGone(cursor, page)
    yield page.events
    cursor = page.upTo
    if (cursor >= page.head) break
    // A store may answer within the turn.
    await nextTurn()
  }
}

/** What of a task's events stands after its resumes up to a number. */
export async function standsOf(store: EventReads, record: TaskRecord, upTo?: number): Promise<Stands> {
  const resumes: StoredEvent[] = []
  const stretch = { types: ['task.resumed'], ...(upTo !== undefined && { upTo }) } as const
  // In its first attempt it was never resumed.
  if (record.attempt > 1) for await (const page of taskPages(store, record, stretch)) resumes.push(...page)
  return standingAfter(resumes)
}

/** The events of a task from its first on that its resumes have not abandoned, page by page. */
export async function* standingPages(
  store: EventReads,
  record: TaskRecord,
  stretch: Omit<TaskStretch, 'after'>,
): AsyncGenerator<readonly StoredEvent[]> {
  const stands = await standsOf(store, record, stretch.upTo)
  for await (const page of taskPages(store, record, stretch)) yield page.filter(stands)
}

/** What a task has put out, up to a number or to its last event. */
export async function readOutput(store: EventReads, record: TaskRecord, upTo?: number): Promise<PartsFold> {
  const stretch = { types: partTypes, ...(upTo !== undefined && { upTo }) }
  return addPages(new PartsFold(), standingPages(store, record, stretch))
}

/** The same fold, with the events of these pages in it. */
export async function addPages(output: PartsFold, pages: AsyncIterable<readonly StoredEvent[]>): Promise<PartsFold> {
  for await (const page of pages) for (const event of page) output.add(event)
  return output
}
