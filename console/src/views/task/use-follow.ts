import type { Virtualizer } from '@tanstack/react-virtual'
import type { ThreadEvent } from 'holdfast/client'
import { type UIEvent, useCallback, useLayoutEffect, useState } from 'react'
import { countAfter } from './event-filter.ts'

interface Follow {
  readonly isFollowing: boolean
  readonly newCount: number
  readonly onScroll: (event: UIEvent<HTMLElement>) => void
  readonly toggle: () => void
}

// A line and a half: whoever is that near to the end is at the end.
const nearPx = 40

/** Stays at the end of a log that grows, until somebody scrolls away from it. */
export function useFollow(
  events: readonly ThreadEvent[],
  virtual: Virtualizer<HTMLDivElement, Element>,
  isLive: boolean,
): Follow {
  // The last number that was there when following was paused; of a log that has ended the beginning is shown.
  const [pausedAt, setPausedAt] = useState<number | undefined>(isLive ? undefined : Number.POSITIVE_INFINITY)
  const isFollowing = pausedAt === undefined
  const count = events.length
  const lastSeq = events.at(-1)?.seq ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: it moves with each event that comes.
  useLayoutEffect(() => {
    if (isFollowing && count > 0) virtual.scrollToIndex(count - 1, { align: 'end' })
  }, [isFollowing, count, lastSeq])
  const onScroll = useCallback(
    ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: UIEvent<HTMLElement>) => {
      const isAtEnd = scrollHeight - scrollTop - clientHeight < nearPx
      if (!isLive) return
      setPausedAt((now) => {
        if (isAtEnd) return undefined
        return now ?? lastSeq
      })
    },
    [isLive, lastSeq],
  )
  const toggle = useCallback(() => setPausedAt((now) => (now === undefined ? lastSeq : undefined)), [lastSeq])
  return { isFollowing, newCount: isFollowing ? 0 : countAfter(events, pausedAt), onScroll, toggle }
}
