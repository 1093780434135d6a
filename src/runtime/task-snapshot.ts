import { type PersistedTask, type PersistedTasks, persistTask, reduceTasks } from './persisted-task.ts'
import type { RestoreAnswer } from './restoration.ts'
import type { Runtime } from './runtime.ts'

const pageTasks = 1000

/** All tasks of a thread by id, as the store has them: to be kept elsewhere, and put back with `restoreTasks`. */
export async function snapshotTasks(runtime: Pick<Runtime, 'list'>, thread: string): Promise<PersistedTasks> {
  const tasks: PersistedTask[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await runtime.list({ thread, limit: pageTasks, ...(cursor !== undefined && { cursor }) })
    tasks.push(...page.tasks.map((task) => persistTask(task, task.thread)))
    cursor = page.cursor
    if (cursor === undefined) return reduceTasks({}, { kind: 'replace_all', tasks })
  }
}

/**
 * Puts the tasks of a snapshot back, each into its thread. Ended ones come back as they were; one that had not ended
 * fails as `orphaned`, because what executed it is gone. What the store has already is left as it is.
 */
export function restoreTasks(runtime: Pick<Runtime, 'restore'>, tasks: PersistedTasks): Promise<RestoreAnswer> {
  return runtime.restore(Object.values(tasks))
}
