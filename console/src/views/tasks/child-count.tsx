import { isTerminal } from 'holdfast/client'
import { useTasks } from 'holdfast/react'
import { useEffect } from 'react'

/** How many tasks a task has spawned, and how many of them are not over yet. */
export interface Children {
  readonly live: number
  readonly all: number
  /** There are more than were read. */
  readonly hasMore: boolean
  readonly loadMore: () => Promise<void>
}

interface ChildCounterProps {
  readonly parent: string
  readonly onCount: (children: Children) => void
}

/** Counts what a task has spawned while it is on the page. Shows nothing. */
export function ChildCounter({ parent, onCount }: ChildCounterProps) {
  const { tasks, hasMore, loadMore } = useTasks({ parent })
  useEffect(() => {
    const live = tasks.filter(({ status }) => !isTerminal(status)).length
    onCount({ live, all: tasks.length, hasMore, loadMore })
  }, [tasks, hasMore, loadMore, onCount])
  return null
}

interface ChildCountProps {
  readonly of: Children
  readonly isExpanded: boolean
}

export function ChildCount({ of: { live, all, hasMore, loadMore }, isExpanded }: ChildCountProps) {
  if (all === 0) return null
  const more = hasMore ? '+' : ''
  return (
    <span className="whitespace-nowrap">
      {live > 0 && (
        <span className="text-run">
          {live}
          {more} running
        </span>
      )}
      <span className="text-ink-faint">
        {live > 0 && ' / '}
        {all}
        {more}
      </span>
      {isExpanded && hasMore && (
        <button
          type="button"
          tabIndex={-1}
          onClick={() => void loadMore()}
          className="relative z-10 ml-1.5 text-accent underline"
        >
          more
        </button>
      )}
    </span>
  )
}
