import { useMemo } from 'react'
import type { ThreadListValue } from '../client/live/thread-list.ts'
import { useModels } from './provider.ts'
import { useLive } from './use-live.ts'

/** The threads of the principal, as far as they are loaded. */
export interface UseThreadsResult extends ThreadListValue {
  /** Resolves when the next page is there. What goes wrong is in `error`. */
  loadMore(): Promise<void>
  /** Reads again, after an error. */
  retry(): void
}

/** The principal's threads; the one in which something happened last is first. */
export function useThreads(): UseThreadsResult {
  const models = useModels()
  const handle = useMemo(() => models.threadList(), [models])
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
