import { principal, taskId, threadId, threadKey } from '../../../src/core/id.ts'
import type { TaskRecord } from '../../../src/core/task.ts'

export const key = threadKey(principal('owner'), threadId('t'))

/** A task record for tests, running unless told otherwise. */
export function taskRecord(id: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: taskId(id),
    key,
    type: 'agent',
    agent: 'helper',
    description: 'a task',
    status: 'running',
    asked: 'nothing',
    attempt: 1,
    epoch: 1,
    depth: 0,
    inbox: true,
    ready: false,
    place: 0,
    crashes: 0,
    taken: false,
    createdAt: 0,
    firstSeq: 0,
    seq: 0,
    ...fields,
  }
}
