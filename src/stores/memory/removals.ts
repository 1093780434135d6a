import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { Journal } from './journal.ts'
import { headOf, type MailRow, pair, type Tables, type TaskRow, type ThreadRow } from './tables.ts'
import { removeTask } from './task-table.ts'

export function dropMail(tables: Tables, row: MailRow, journal: Journal): void {
  tables.mailIds.remove(row, journal)
  tables.mail.remove(row, journal)
}

/** Drops what is of no more use once a task has ended. */
export function forget(tables: Tables, key: ThreadKey, task: TaskId, journal: Journal): void {
  for (const row of [...tables.steps.group(task)]) {
    tables.stepKeys.remove(row, journal)
    tables.steps.remove(row, journal)
  }
  for (const row of [...tables.mail.group(pair(key, task))]) dropMail(tables, row, journal)
}

/** Empties a thread. Its row stays, because numbers and revisions go on. */
export function eraseThread(tables: Tables, thread: ThreadRow, journal: Journal): void {
  for (const row of tables.accepted.byThread.group(thread.key).toReversed()) eraseTask(tables, row, journal)
  // From the end, where a removal moves nothing.
  for (const row of tables.messages.group(thread.key).toReversed()) {
    tables.messageIds.remove(row, journal)
    tables.messages.remove(row, journal)
  }
  journal.assign(thread, { first: headOf(thread) + 1, events: [], wakes: 0 })
}

function eraseTask(tables: Tables, row: TaskRow, journal: Journal): void {
  const { id, key } = row.record
  forget(tables, key, id, journal)
  for (const used of [...tables.keysOfTask.group(id)]) {
    tables.keysOfTask.remove(used, journal)
    journal.delete(tables.keys, pair(used.principal, used.used.key))
  }
  removeTask(tables, row, journal)
}
