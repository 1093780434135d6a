import type { Task } from 'holdfast/client'
import { useTasks } from 'holdfast/react'
import { useEffect } from 'react'

interface ChildrenReaderProps {
  readonly parent: string
  readonly onRead: (parent: string, tasks: readonly Task[]) => void
}

/** Keeps what a task spawned at hand for as long as it is expanded. Shows nothing. */
export function ChildrenReader({ parent, onRead }: ChildrenReaderProps) {
  const { tasks } = useTasks({ parent })
  useEffect(() => onRead(parent, tasks), [parent, tasks, onRead])
  return null
}
