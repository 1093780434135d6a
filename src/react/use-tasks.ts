import { useMemo } from 'react'
import type { TaskListValue } from '../client/live/task-list.ts'
import type { TaskFilter } from '../client/live/task-rows.ts'
import { useModels } from './provider.ts'
import { useLive, useSame } from './use-live.ts'

/** The tasks that match, as far as they are loaded. */
export interface UseTasksResult extends TaskListValue {
  /** Resolves when the next page is there. What goes wrong is in `error`. */
  loadMore(): Promise<void>
  /** Reads again, after an error. */
  retry(): void
}

/** The principal's tasks that match, newest first, as they are now. */
export function useTasks(query: TaskFilter = {}): UseTasksResult {
  const models = useModels()
  const filter = useSame(query)
  const handle = useMemo(() => models.taskList(filter), [models, filter])
  const value = useLive(handle)
  return useMemo(
    () => ({
      ...value,
      loadMore: () => handle.current?.loadMore() ?? Promise.resolve(),
      retry: () => handle.current?.live.retry(),
    }),
    [value, handle],
  )
}
