import { principalOf, threadOf } from '../core/id.ts'
import type { LivePart } from '../core/live-part.ts'
import type { TaskRecord } from '../core/task.ts'
import { Untaken } from '../core/untaken.ts'
import type { Store } from '../stores/store.ts'

// A result may take 8 MiB, and how large the next ones are is not known before they are read.
const pageLimit = 7

/**
 * The oldest ends of a thread that nobody took and that are not known from its live part, as many as a wake takes. Those
 * that are known are read along with them, a page at a time.
 */
export async function readUntaken(store: Pick<Store, 'tasks'>, { key, ended, tasks }: LivePart): Promise<TaskRecord[]> {
  const known = new Set([...ended, ...tasks].map(({ id }) => id))
  const whose = { principal: principalOf(key), thread: threadOf(key) }
  const query = { ...whose, untaken: true, toDecide: true, limit: pageLimit } as const
  const untaken = new Untaken()
  for (let cursor: string | undefined; ; ) {
    const page = await store.tasks({ ...query, ...(cursor !== undefined && { cursor }) })
    for (const record of page.tasks) if (!known.has(record.id)) untaken.add(record)
    cursor = page.cursor
    if (cursor === undefined || untaken.isFull) return [...untaken.values()]
  }
}
