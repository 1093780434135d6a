import { taskId } from '../../../src/core/id.ts'
import type { LiveThread } from '../../../src/core/live-thread.ts'
import type { TaskRecord } from '../../../src/core/task.ts'
import type { Mail, TaskPut, Unit } from '../../../src/core/unit.ts'
import { key } from './task-record.ts'

export function unit(fields: Partial<Unit> = {}): Unit {
  return { operation: 'accept', thread: key, events: [], ...fields }
}

export function put(record: TaskRecord, fields: Partial<TaskPut> = {}): TaskPut {
  return { record, isNew: false, stamps: [], ...fields }
}

export function mailTo(id: string, task: string, fields: Partial<Mail> = {}): Mail {
  return { id, task: taskId(task), place: 0, content: '""', ...fields }
}

/** All that can be seen of a live thread. */
export function shown(live: LiveThread, ids: readonly string[]): unknown {
  return {
    rev: live.rev,
    wakes: live.wakes,
    isIdle: live.isIdle,
    inputBytes: live.inputBytes,
    messageBytes: live.messageBytes,
    tasks: [...live.tasks()],
    ended: [...live.ended()],
    runs: live.runs(),
    mail: ids.map((id) => [...live.mailOf(taskId(id))]),
    children: ids.map((id) => live.children(taskId(id)).map((child) => child.id)),
    questions: ids.map((id) => live.questionsOf(taskId(id))),
    named: ['a', 'b'].map((name) => live.named(name)?.id),
  }
}
