import type { Task } from 'holdfast/client'
import { useTasks } from 'holdfast/react'
import { useEffect, useMemo } from 'react'
import { type TaskTree, treeOf } from './task-tree.ts'

/** The whole tree that a task is of, as it is now. */
export function useTaskTree(task: Task): TaskTree {
  const { tasks, hasMore, isLoading, loadMore } = useTasks({ thread: task.thread })
  const tree = useMemo(() => treeOf(task, tasks), [task, tasks])
  // A root whose own tasks are not read yet has children that are missing.
  const isRootRead = tasks.some(({ id }) => id === tree.root.id)
  const isMissing = !isLoading && hasMore && !(tree.isWhole && isRootRead)
  const readCount = tasks.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that came may ask for the next.
  useEffect(() => {
    if (isMissing) void loadMore().catch(() => {})
  }, [isMissing, readCount])
  return tree
}
