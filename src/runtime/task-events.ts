import type { StoredEvent } from '../core/event.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { checkGone } from './log-filter.ts'

// Large enough that it is mostly reading, small enough that it does not hold up the event loop.
const pageEventsMax = 1000

/**
 * The events of a task behind a number, to another or to the head: all of them unless given. Rejects with `offset_gone` if some
 * are gone, which they cannot be while the task lives.
 */
export async function taskEvents(
  store: Store,
  record: TaskRecord,
  {
    after = record.firstSeq - 1,
    upTo = Number.MAX_SAFE_INTEGER,
    toDecide,
  }: { readonly after?: number; readonly upTo?: number; readonly toDecide?: true } = {},
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  const task = { id: record.id, first: record.firstSeq, last: upTo }
  for (let cursor = Math.max(after, record.firstSeq - 1, 0); cursor < upTo; ) {
    const query = { after: cursor, limit: pageEventsMax, task, ...(toDecide && { toDecide }) }
    const page = await store.events(record.key, query)
    checkGone(cursor, page)
    events.push(...page.events.filter((event) => event.seq <= upTo))
    cursor = page.upTo
    if (cursor >= page.head) break
  }
  return events
}
