import { principalOf, type ThreadKey, threadOf } from '../core/id.ts'
import { wakeBytesMax, wakeResultsMax } from '../core/live-part.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Store } from '../stores/store.ts'

// Results may be large, and most threads have few that nobody took: what is more than a wake takes is hardly read.
const pageLimit = 100

/** The oldest ends of a thread that nobody took, as many as a wake takes, and not many more. */
export async function readUntaken(store: Store, key: ThreadKey): Promise<TaskRecord[]> {
  const query = { principal: principalOf(key), thread: threadOf(key), untaken: true, limit: pageLimit }
  const records: TaskRecord[] = []
  let bytes = 0
  for (let cursor: string | undefined; ; ) {
    const page = await store.tasks({ ...query, ...(cursor !== undefined && { cursor }) })
    records.push(...page.tasks)
    bytes += page.tasks.reduce((sum, { result }) => sum + (result?.length ?? 0), 0)
    cursor = page.cursor
    if (cursor === undefined || records.length >= wakeResultsMax || bytes >= wakeBytesMax) return records
  }
}
