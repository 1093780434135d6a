import type { TaskRecord } from './task.ts'
import type { TaskPut } from './unit.ts'

/**
 * The record of a put with what its task had reported, so far as the put does not decide it, and with its hook, which no put decides. Whoever keeps records merges
 * by this, because a report moves no revision: a put may have been decided from a record that is older than the last one.
 */
export function withStoredReport(put: TaskPut, stored: TaskRecord | undefined): TaskRecord {
  const { record, isNew, reports = [] } = put
  if (isNew || !stored) return record
  const { progress, usage, hook, ...rest } = record
  const kept = {
    progress: reports.includes('progress') ? progress : stored.progress,
    usage: reports.includes('usage') ? usage : stored.usage,
  }
  if (kept.progress === progress && kept.usage === usage && stored.hook === hook) return record
  return {
    ...rest,
    ...(kept.progress !== undefined && { progress: kept.progress }),
    ...(kept.usage && { usage: kept.usage }),
    ...(stored.hook && { hook: stored.hook }),
  }
}
