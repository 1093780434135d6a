import type { TaskId } from './id.ts'

/** Where a task comes from: the task, run, tool call and agent it was spawned in. */
export interface ParentContext {
  readonly task?: TaskId
  readonly run?: TaskId
  readonly call?: string
  readonly agent?: string
}

/**
 * Explicit fields win over ambient ones. An explicit parent task switches off ambient inheritance as a whole,
 * because the ambient run, call and agent belong to another task than the one named. An empty context is none.
 */
export function mergeLineage(
  explicit: ParentContext | undefined,
  ambient: ParentContext | undefined,
): ParentContext | undefined {
  const inherited = explicit?.task === undefined ? ambient : undefined
  const task = explicit?.task ?? inherited?.task
  const run = explicit?.run ?? inherited?.run
  const call = explicit?.call ?? inherited?.call
  const agent = explicit?.agent ?? inherited?.agent
  const merged: ParentContext = {
    ...(task !== undefined && { task }),
    ...(run !== undefined && { run }),
    ...(call !== undefined && { call }),
    ...(agent !== undefined && { agent }),
  }
  return Object.keys(merged).length === 0 ? undefined : merged
}
