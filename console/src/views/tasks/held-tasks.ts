import type { Task } from 'holdfast/client'
import { useState } from 'react'

interface Top {
  readonly id: string
  readonly createdAt: number
}

interface HeldTasks {
  readonly shown: readonly Task[]
  readonly newCount: number
  /** To be told on every scroll. */
  readonly scrolled: (isAtTop: boolean) => void
}

/** While somebody has scrolled down, new tasks wait behind a number, so that nothing moves under their eyes. */
export function useHeldTasks(tasks: readonly Task[]): HeldTasks {
  const [top, setTop] = useState<Top>()
  const newCount = top ? countAbove(tasks, top) : 0
  const scrolled = (isAtTop: boolean) => {
    const [first] = tasks
    if (isAtTop) setTop(undefined)
    else if (!top && first) setTop({ id: first.id, createdAt: first.createdAt })
  }
  return { shown: newCount === 0 ? tasks : tasks.slice(newCount), newCount, scrolled }
}

/** The one that was at the top may have left the list since: what is older than it is still below. */
function countAbove(tasks: readonly Task[], { id, createdAt }: Top): number {
  const at = tasks.findIndex((task) => task.id === id || task.createdAt < createdAt)
  return at < 0 ? tasks.length : at
}
