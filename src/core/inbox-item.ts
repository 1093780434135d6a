import { invariant, type TaskError } from './errors.ts'
import type { TaskId } from './id.ts'
import { isTerminal } from './status.ts'
import type { TaskRecord } from './task.ts'

/** What arrives in an inbox: a message or a custom event of a task, or its end. */
export type InboxItem =
  | { readonly kind: 'custom'; readonly taskId: TaskId; readonly eventType: string; readonly payload?: unknown }
  | { readonly kind: 'completed'; readonly taskId: TaskId; readonly result?: unknown }
  | { readonly kind: 'failed' | 'cancelled'; readonly taskId: TaskId; readonly error: TaskError }

/** A message that was sent to a task, as that task receives it. */
export function messageItem(task: TaskId, message: { readonly from?: string; readonly content: unknown }): InboxItem {
  const { from, content } = message
  return customItem(task, 'agent_message', { ...(from !== undefined && { from }), content })
}

export function customItem(task: TaskId, name: string, payload?: unknown): InboxItem {
  return { kind: 'custom', taskId: task, eventType: name, ...(payload !== undefined && { payload }) }
}

/** The end of a task, from its terminal record. */
export function endItem(record: TaskRecord): InboxItem {
  const { id, status, result, error } = record
  invariant(isTerminal(status), `${id} is ${status} and has no end to tell of`)
  if (status === 'completed') {
    return { kind: status, taskId: id, ...(result !== undefined && { result: JSON.parse(result) as unknown }) }
  }
  invariant(error !== undefined, `${id} is ${status} without an error`)
  return { kind: status, taskId: id, error }
}
