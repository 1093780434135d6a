import type { UseTasksResult } from 'holdfast/react'
import { useCallback, useEffect, useState } from 'react'

export interface Older {
  readonly hasMore: boolean
  /** How many tasks were looked through. */
  readonly readCount: number
  /** More are being looked through without being asked for. */
  readonly isSearching: boolean
  /** Loads the next page, unless it has looked far enough by itself, or was refused. */
  readonly load: () => void
  /** Loads it in any case. */
  readonly loadOn: () => void
}

// Whoever looks for something rare would else read everything there ever was.
const searchedMax = 2000

/**
 * Reads on at the end of the list. Where it is filtered here, that may take many pages for a few rows. After a refusal it
 * reads on only when somebody asks for it.
 */
export function useOlder({ tasks, hasMore, error, loadMore }: UseTasksResult, isFilteredHere: boolean): Older {
  const [isLoading, setLoading] = useState(false)
  const [allowance, setAllowance] = useState(searchedMax)
  const readCount = tasks.length
  const isAllowed = !error && (!isFilteredHere || readCount < allowance)
  const read = useCallback(async () => {
    setLoading(true)
    await loadMore().catch(() => {})
    setLoading(false)
  }, [loadMore])
  const load = useCallback(() => {
    if (hasMore && isAllowed && !isLoading) void read()
  }, [hasMore, isAllowed, isLoading, read])
  const loadOn = useCallback(() => {
    setAllowance(readCount + searchedMax)
    void read()
  }, [read, readCount])
  const isSearching = isFilteredHere && hasMore && isAllowed
  useEffect(() => {
    if (isFilteredHere) load()
  }, [isFilteredHere, load])
  return { hasMore, readCount, isSearching, load, loadOn }
}
