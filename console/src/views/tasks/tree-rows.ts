import type { Task } from 'holdfast/client'

/** A line of the list: a task, and how deep it stands under the one that was listed. */
export interface Row {
  readonly task: Task
  readonly depth: number
  readonly isExpanded: boolean
}

export type ChildrenOf = ReadonlyMap<string, readonly Task[]>

/** The listed tasks, each followed by what it spawned if it is expanded, in the order in which that was spawned. */
export function treeRows(
  tasks: readonly Task[],
  expanded: ReadonlySet<string>,
  childrenOf: ChildrenOf,
): readonly Row[] {
  const rows: Row[] = []
  const shown = new Set<string>()
  const add = (task: Task, depth: number): void => {
    if (shown.has(task.id)) return
    shown.add(task.id)
    const isExpanded = expanded.has(task.id)
    rows.push({ task, depth, isExpanded })
    if (!isExpanded) return
    for (const child of (childrenOf.get(task.id) ?? []).toReversed()) add(child, depth + 1)
  }
  for (const task of tasks) add(task, 0)
  return rows
}
