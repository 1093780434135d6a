import { type Client, HoldfastError, isHoldfastError, type Task } from '../../client/index.ts'
import { isThread, naming } from '../naming.ts'

/** A thread's log, or what of it belongs to a task. */
export interface LogTarget {
  readonly thread: string
  readonly task?: Task
}

const taskId = /^bg_/

/** Finds what is meant by an id: a task, else a thread. A thread that was never used is one, unless the id is that of a task. */
export async function logTarget(client: Client, id: string, signal: AbortSignal): Promise<LogTarget> {
  try {
    const task = await naming('task', id, client.get(id, { signal }))
    return { thread: task.thread, task }
  } catch (error) {
    if (!isHoldfastError(error, 'not_found') || taskId.test(id)) throw error
    return { thread: id }
  }
}

/** The same, where an empty thread would be a mistake. */
export async function usedLogTarget(client: Client, id: string, signal: AbortSignal): Promise<LogTarget> {
  const target = await logTarget(client, id, signal)
  if (target.task) return target
  if (await isThread(client, id, signal)) return target
  throw new HoldfastError('not_found', `There is no task and no thread ${id}`)
}
