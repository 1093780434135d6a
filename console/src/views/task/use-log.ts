import { useEvents } from 'holdfast/react'
import { useMemo } from 'react'
import { abandonedIn, matchingEvents } from './event-filter.ts'
import type { TreeLine } from './task-tree.ts'

interface LogAsked {
  /** A task, or `tree` for all of them. */
  readonly of: string
  readonly thread: string
  readonly lines: readonly TreeLine[]
  readonly text: string
}

/** The events of a task or of a whole tree, and those of them that match. */
export function useLog({ of, thread, lines, text }: LogAsked) {
  const isTree = of === 'tree'
  const { events: read, letGo, error, isLoading, retry } = useEvents(thread, isTree ? {} : { task: of })
  const ids = useMemo(() => new Set<string>(lines.map(({ task }) => task.id)), [lines])
  const events = useMemo(
    () => (isTree ? read.filter(({ task }) => task !== undefined && ids.has(task)) : read),
    [isTree, read, ids],
  )
  const shown = useMemo(() => matchingEvents(events, text), [events, text])
  const abandoned = useMemo(() => abandonedIn(events), [events])
  return { isTree, events, shown, abandoned, letGo, error, isLoading, retry }
}
