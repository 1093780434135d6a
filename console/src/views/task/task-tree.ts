import type { Task, ThreadEvent } from 'holdfast/client'

/** A task among those that it comes from and that come from it. All of a tree are tasks of one thread. */
export interface TaskTree {
  /** From the root to the task itself. */
  readonly path: readonly Task[]
  readonly root: Task
  /** In the order in which they were spawned. */
  readonly childrenOf: ReadonlyMap<string, readonly Task[]>
  /** Whether nothing is missing above the task. */
  readonly isWhole: boolean
}

/**
 * Made of the newest tasks of a thread, without a gap. What is spawned is newer than what spawned it, so once the root is
 * among them, all of its tree is. `others` were found in another way; of two copies the one with the higher `seq` counts.
 */
export function treeOf(task: Task, newest: readonly Task[], others: readonly Task[] = []): TaskTree {
  const byId = new Map<string, Task>()
  for (const copy of [...others, ...newest, task]) {
    const known = byId.get(copy.id)
    if (!known || known.seq <= copy.seq) byId.set(copy.id, copy)
  }
  const path = [byId.get(task.id) ?? task]
  let above = task.parent?.task
  for (let parent = above && byId.get(above); parent; parent = above && byId.get(above)) {
    path.unshift(parent)
    above = parent.parent?.task
  }
  const childrenOf = Map.groupBy([...byId.values()].toSorted(bySpawning), ({ parent }) => String(parent?.task ?? ''))
  return { path, root: path[0] ?? task, childrenOf, isWhole: above === undefined }
}

function bySpawning(one: Task, other: Task): number {
  return one.createdAt - other.createdAt || one.id.localeCompare(other.id, 'en', { numeric: true })
}

export interface TreeLine {
  readonly task: Task
  readonly depth: number
}

/** A task and all below it, each before what it spawned. */
export function linesOf(task: Task, { childrenOf }: TaskTree, depth = 0): readonly TreeLine[] {
  const below = (childrenOf.get(task.id) ?? []).flatMap((child) =>
    linesOf(child, { childrenOf } as TaskTree, depth + 1),
  )
  return [{ task, depth }, ...below]
}

/** Takes a task into a tree at its first event, if what spawned it is in the tree. */
export function growTree(ids: Set<string>, event: ThreadEvent): void {
  if (event.type !== 'task.accepted') return
  const { id, parent } = event.data.task
  if (parent?.task !== undefined && ids.has(parent.task)) ids.add(id)
}

/** Where a failed task failed: the lowest failed task below it, following the one that failed last. */
export function failingLeaf(task: Task, tree: TaskTree): Task {
  if (task.status !== 'failed') return task
  const failed = (tree.childrenOf.get(task.id) ?? []).filter(({ status }) => status === 'failed')
  const last = failed.toSorted((one, other) => (one.completedAt ?? 0) - (other.completedAt ?? 0)).at(-1)
  return last ? failingLeaf(last, tree) : task
}
