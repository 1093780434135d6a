import type { TaskId } from './id.ts'
import type { TaskRecord } from './task.ts'

/** What the tree rules need to know of a thread. */
export interface Family {
  task(id: TaskId): TaskRecord | undefined
  children(id: TaskId): readonly TaskRecord[]
}

/**
 * A live task and its live attached descendants, parents before children. A detached child keeps its parent
 * as lineage only, so no tree goes through it.
 */
export function attachedTree(family: Family, root: TaskRecord): TaskRecord[] {
  const tree = [root]
  // The list grows while it is walked: breadth first, each task once, because a task has one parent.
  for (const member of tree) tree.push(...family.children(member.id).filter((child) => !child.detached))
  return tree
}

/** The run in whose tree a task spawned under `parent` is: the parent itself, or the run it came from. */
export function runOf(parent: TaskRecord): TaskId | undefined {
  return parent.type === 'run' ? parent.id : parent.parent?.run
}
