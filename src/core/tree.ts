import type { LiveThread } from './live-thread.ts'
import { isRun, type TaskRecord } from './task.ts'

/**
 * A live task and its live attached descendants, parents before children. A detached child keeps its parent
 * as lineage only, so no tree goes through it.
 */
export function attachedTree(live: LiveThread, root: TaskRecord): TaskRecord[] {
  const tree = [root]
  // The list grows while it is walked: breadth first, each task once, because a task has one parent.
  for (const member of tree) tree.push(...live.children(member.id).filter((child) => !child.detached))
  return tree
}

/** Whether no tree goes through a live task from above. */
export function isRoot(live: LiveThread, { parent, detached }: TaskRecord): boolean {
  return detached === true || parent?.task === undefined || live.task(parent.task) === undefined
}

/**
 * Whom the end of a task wakes that is spawned detached under this one: the run at the top of the tree, if it asks for that.
 * A detached task at the top stands for the run it came from, which may have ended.
 */
export function wakeUnder(live: LiveThread, parent: TaskRecord): Pick<TaskRecord, 'wake' | 'wakeRun'> {
  if (isRun(parent)) {
    const { onResult, agent, id } = parent
    return onResult === 'wake' && agent !== undefined ? { wake: agent, wakeRun: id } : {}
  }
  const { wake, wakeRun } = parent
  if (wake !== undefined && wakeRun !== undefined) return { wake, wakeRun }
  const above = parent.parent?.task === undefined || parent.detached ? undefined : live.task(parent.parent.task)
  return above ? wakeUnder(live, above) : {}
}
