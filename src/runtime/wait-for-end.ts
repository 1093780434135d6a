import { type Principal, principalOf, taskId } from '../core/id.ts'
import { isTerminal } from '../core/status.ts'
import { type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { Node } from './node.ts'
import { unlessStopped } from './stop.ts'

export interface WaitOptions {
  /** Ends the waiting, not the task. */
  readonly signal?: AbortSignal
}

/** Resolves with a task once it has ended; undefined if there is none. `read` gives it if its principal may see it. */
export async function waitForEnd(
  node: Node,
  principal: Principal,
  task: string,
  { read, signal }: { read(): Promise<TaskRecord | undefined>; readonly signal?: AbortSignal | undefined },
): Promise<Task | undefined> {
  for (;;) {
    const listener = node.signals.listen(`end:${String(task)}`)
    try {
      if (!isExecutedHere(node, principal, task)) {
        const found = await read()
        if (!found) return undefined
        if (isTerminal(found.status)) return toTask(found)
        node.signals.locate(found.id, found.key)
      }
      const { heard } = listener
      const ended = await (signal ? unlessStopped(signal, heard) : heard)
      if (ended) return toTask(ended)
    } finally {
      listener.stop()
    }
  }
}

/** Then it has not ended, and its end will be heard of: the store need not be asked. */
function isExecutedHere(node: Node, principal: Principal, task: string): boolean {
  const execution = node.executor.get(taskId(task))
  return execution?.hasEnded === false && principalOf(execution.thread) === principal
}
