import type { Message, Task, TaskId } from 'holdfast/client'

/** What a run was told. */
export interface Letter {
  readonly id: string
  readonly task: TaskId
  readonly text: string
}

/** Those that a run may still read: one that was read is a message, one whose run has ended became a run or is gone. */
export function unreadOf(
  letters: readonly Letter[],
  messages: readonly Message[],
  tasks: ReadonlyMap<string, Task>,
): readonly Letter[] {
  const read = new Set(messages.map(({ id }) => id))
  return letters.filter(({ id, task }) => {
    const run = tasks.get(task)
    return run && run.completedAt === undefined && !read.has(id)
  })
}
