import type { Task } from 'holdfast/client'
import { useClient, useTasks } from 'holdfast/react'
import { useEffect, useMemo, useState } from 'react'
import { type TaskTree, treeOf } from './task-tree.ts'

// A thread can have any number of tasks after an old one. More than so many are not read through to find all of a tree.
const readMax = 5000

interface FoundTree {
  readonly tree: TaskTree
  /** Some of it was not read, and will not be. */
  readonly isCut: boolean
}

/** The tree that a task is of, as it is now. Where it comes from and its latest children are found in any case. */
export function useTaskTree(task: Task): FoundTree {
  const [above, setAbove] = useState<readonly Task[]>([])
  const own = useTasks({ parent: task.id })
  const { tasks, hasMore, isLoading, error, loadMore } = useTasks({ thread: task.thread })
  const tree = useMemo(() => treeOf(task, tasks, [...above, ...own.tasks]), [task, tasks, above, own.tasks])
  useAncestor(isLoading ? undefined : tree.root.parent?.task, setAbove)
  // A root whose own tasks are not read yet has children that are missing, unless it has none.
  const isRootRead = tasks.some(({ id }) => id === tree.root.id)
  const isAlone = tree.root.id === task.id && !own.isLoading && own.tasks.length === 0
  const isMissing = !isLoading && hasMore && !(tree.isWhole && (isRootRead || isAlone))
  const readCount = tasks.length
  const isWanted = isMissing && !own.isLoading && readCount < readMax
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that came may ask for the next.
  useEffect(() => {
    if (isWanted) void loadMore()
  }, [isWanted, readCount])
  return { tree, isCut: isMissing && (readCount >= readMax || error !== undefined) }
}

/** Reads the next task above; once it is in the tree, there may be one above that. */
function useAncestor(id: string | undefined, onRead: (add: (known: readonly Task[]) => readonly Task[]) => void): void {
  const client = useClient()
  useEffect(() => {
    if (id === undefined) return
    const leaving = new AbortController()
    const read = async () => {
      const found = await client.get(id, { signal: leaving.signal })
      onRead((known) => [...known, found])
    }
    // One that was deleted is where the trail begins.
    read().catch(() => {})
    return () => leaving.abort()
  }, [client, id, onRead])
}
