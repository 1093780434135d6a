import { taskId } from '../../../src/core/id.ts'
import type { Task } from '../../../src/core/task.ts'
import type { TaskSummary } from '../../../src/runtime/persisted-task.ts'

/** Every field that a task can have: one that is added to tasks must be added here. */
export const wholeSummary: { readonly [Field in keyof TaskSummary]-?: NonNullable<Task[Field]> } = {
  id: taskId('bg_7'),
  seq: 12,
  type: 'agent',
  agent: 'research',
  name: 'scout',
  description: 'look around',
  status: 'failed',
  position: 2,
  parent: { task: taskId('bg_1'), run: taskId('bg_0'), call: 'call_1', agent: 'lead' },
  detached: true,
  progress: 0.25,
  usage: { inputTokens: 12, outputTokens: 3.5 },
  input: { deep: [1, { a: null }] },
  result: { answer: [42, 'x'] },
  error: { code: 'agent_error', message: 'no such page' },
  partial: true,
  unread: ['msg_1', 'msg_2'],
  attempt: 2,
  epoch: 3,
  cancelRequestedAt: 30,
  createdAt: 10,
  startedAt: 20,
  completedAt: 40,
  hook: { attempts: 2, error: 'not now', nextAt: 50 },
  metadata: { from: 'a form' },
}
