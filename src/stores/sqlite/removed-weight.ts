import type { Connection } from './connection.ts'
import type { PackedUnit } from './packed-batch.ts'
import type { TaskWrites } from './task-writes.ts'
import { pageBytes } from './write-settings.ts'

// More rows are too many whatever is in them, and of a row only its head is read.
const rowsMax = 100
const stepsOf = `SELECT octet_length(value) AS length FROM steps WHERE task = ? LIMIT ${rowsMax}`
const mailOf = `SELECT octet_length(content) AS length FROM mail WHERE task = ? AND thread = ? LIMIT ${rowsMax}`
const oneMail = 'SELECT octet_length(content) AS length FROM mail WHERE thread = ? AND id = ?'

/** About how many bytes are overwritten by what a unit removes: what it read, and what hangs on tasks it forgets. A row may have a page to itself. */
export function removedWeight(connection: Connection, tasks: TaskWrites, thread: number, unit: PackedUnit): number {
  const weigh = (rows: string, ...values: (string | number)[]) =>
    connection
      .all<{ length: number | null }>(rows, ...values)
      .reduce((sum, { length }) => sum + pageBytes + (length ?? 0), 0)
  const read = (unit.read ?? []).slice(0, rowsMax).map((id) => weigh(oneMail, thread, id))
  const forgotten = (unit.forget ?? []).map((id) =>
    tasks.isBare(id) ? 0 : weigh(stepsOf, id) + weigh(mailOf, id, thread),
  )
  return [...read, ...forgotten].reduce((sum, weight) => sum + weight, 0)
}
