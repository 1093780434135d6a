import type { Tables } from './batch.ts'
import type { PackedUnit } from './packed-batch.ts'
import { pageBytes } from './write-settings.ts'

// More rows are more than a few, whatever is in them. Of a row only its head is read.
const rowsMax = 9
const stepsOf = `SELECT coalesce(octet_length(value), 0) + octet_length(doc) AS length FROM steps WHERE task = ? LIMIT ${rowsMax}`
const mailLength = 'SELECT octet_length(content) + octet_length(doc) AS length FROM mail'
const mailOf = `${mailLength} WHERE task = ? AND thread = ? LIMIT ${rowsMax}`
const oneMail = `${mailLength} WHERE thread = ? AND id = ?`

/**
 * About how many bytes are overwritten by what a unit removes: messages that were read, and what hangs on tasks that it forgets.
 * A row may have a page to itself. Counts no further than a little above `bytesMax`.
 */
export function removedWeight(
  { connection, tasks }: Tables,
  thread: number,
  { read = [], forget = [] }: PackedUnit,
  bytesMax: number,
): number {
  let weight = 0
  const isPast = (rows: string, ...values: (string | number)[]) => {
    for (const { length } of connection.all<{ length: number }>(rows, ...values)) weight += pageBytes + length
    return weight > bytesMax
  }
  if (read.some((id) => isPast(oneMail, thread, id))) return weight
  forget.some((id) => !tasks.isBare(id) && (isPast(stepsOf, id) || isPast(mailOf, id, thread)))
  return weight
}
