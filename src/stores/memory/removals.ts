import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { Removed, Unit } from '../../core/unit.ts'
import type { Journal } from './journal.ts'
import { eraseQuestions } from './question-table.ts'
import { headOf, type MailRow, type MessageRow, pair, type Tables, type TaskRow, type ThreadRow } from './tables.ts'
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

/** Does what a unit says is to be removed, and says what that was. */
export function remove(tables: Tables, thread: ThreadRow, unit: Unit, journal: Journal): Removed | undefined {
  if (unit.erase) return eraseThread(tables, thread, journal)
  if (unit.eraseTasks !== undefined) return eraseTasks(tables, thread, unit.eraseTasks, journal)
  return unit.trim === undefined ? undefined : trimThread(thread, unit.trim, journal)
}

/** An event is a row of its own, and to cut many off takes no longer than a few. */
function trimThread(thread: ThreadRow, upTo: number, journal: Journal): Removed {
  const count = Math.min(thread.events.length, Math.max(0, upTo - thread.first + 1))
  if (count > 0) journal.assign(thread, { first: thread.first + count, events: thread.events.slice(count) })
  return { events: count, tasks: 0 }
}

/** Empties a thread. Its row stays, because numbers and revisions go on. */
function eraseThread(tables: Tables, thread: ThreadRow, journal: Journal): Removed {
  const { tasks } = eraseTasks(tables, thread, Number.POSITIVE_INFINITY, journal)
  const removed = { events: thread.events.length, tasks }
  eraseMessages(tables, thread, () => true, journal)
  journal.assign(thread, { first: headOf(thread) + 1, events: [], wakes: 0 })
  return removed
}

function eraseMessages(
  tables: Tables,
  { key }: ThreadRow,
  isGone: (row: MessageRow) => boolean,
  journal: Journal,
): void {
  // From the end, where a removal moves nothing.
  for (const row of tables.messages.group(key).filter(isGone).reverse()) {
    tables.messageIds.remove(row, journal)
    tables.messages.remove(row, journal)
  }
}

function eraseTasks(tables: Tables, thread: ThreadRow, countMax: number, journal: Journal): Removed {
  const rows = tables.accepted.byThread.group(thread.key).slice(0, countMax).reverse()
  for (const row of rows) eraseTask(tables, row, journal)
  const ids = new Set<TaskId | undefined>(rows.map(({ record }) => record.id))
  eraseMessages(tables, thread, ({ put }) => ids.has(put.task), journal)
  return { events: 0, tasks: rows.length }
}

function eraseTask(tables: Tables, row: TaskRow, journal: Journal): void {
  const { id, key } = row.record
  forget(tables, key, id, journal)
  eraseQuestions(tables.questions, id, journal)
  for (const used of [...tables.keysOfTask.group(id)]) {
    tables.keysOfTask.remove(used, journal)
    journal.delete(tables.keys, pair(used.principal, used.used.key))
  }
  removeTask(tables, row, journal)
}
