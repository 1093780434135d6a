import type { JsonText } from '../../core/id.ts'
import type { ShownRecord } from '../../core/task.ts'
import type { Connection } from './connection.ts'
import { selectTasks, type TaskRow, toRecord } from './task-row.ts'

/** A task without what stands in other tables, but with the lengths of that: SQLite knows them without reading it. */
export interface SizedRow extends Omit<TaskRow, 'input' | 'result'> {
  readonly input_bytes: number | null
  readonly result_bytes: number | null
}

export const selectSized: string = selectTasks.replace(
  'i.body AS input, r.body AS result',
  'octet_length(i.body) AS input_bytes, octet_length(r.body) AS result_bytes',
)

export function bytesOf({ input_bytes, result_bytes }: SizedRow): number {
  return (input_bytes ?? 0) + (result_bytes ?? 0)
}

/** The records of rows, those that are not among the whole ones without what stands in other tables. */
export function toShown(
  connection: Connection,
  rows: readonly SizedRow[],
  whole: readonly SizedRow[] = rows,
): ShownRecord[] {
  const withInput = whole.filter(({ input_bytes }) => input_bytes !== null)
  const withResult = whole.filter(({ result_bytes }) => result_bytes !== null)
  const inputs = bodiesOf(connection, 'inputs', withInput)
  const results = bodiesOf(connection, 'results', withResult)
  return rows.map((row) => {
    const [input = null, result = null] = [inputs.get(row.n), results.get(row.n)]
    return {
      ...toRecord({ ...row, input, result }),
      ...(row.input_bytes !== null && input === null && { inputOmitted: true }),
      ...(row.result_bytes !== null && result === null && { resultOmitted: true }),
    }
  })
}

function bodiesOf(
  connection: Connection,
  table: 'inputs' | 'results',
  rows: readonly SizedRow[],
): ReadonlyMap<number, JsonText> {
  if (rows.length === 0) return new Map()
  const sql = `SELECT task, body FROM ${table} WHERE task IN (SELECT value FROM json_each(?))`
  const found = connection.all<{ task: number; body: JsonText }>(sql, JSON.stringify(rows.map(({ n }) => n)))
  return new Map(found.map(({ task, body }) => [task, body]))
}
