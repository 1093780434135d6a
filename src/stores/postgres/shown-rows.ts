import { shortBodyLengthMax } from '../../core/shown-record.ts'
import type { ShownRecord } from '../../core/task.ts'
import { endColumns, type TaskRow, taskColumns, toRecord } from './task-row.ts'

/** A task of which texts may be left out. The server knows how long they are without reading them. */
export interface ShownRow extends TaskRow {
  readonly input_omitted?: boolean | null
  readonly result_omitted?: boolean | null
}

/** The columns of tasks that are whole as long as this holds, and then without texts that are not short. */
export function columnsWhile(holds: string): string {
  return taskColumns.replace('t.input, t.result', () => `${textWhile(holds, 'input')}, ${textWhile(holds, 'result')}`)
}

/** The same of ended tasks without what they were given. */
export function endColumnsWhile(holds: string): string {
  return endColumns.replace('t.result', () => textWhile(holds, 'result'))
}

/** Holds for the first rows, in the order of the window `w`, which do not take more than this together. */
export function takeAtMost(bytesMax: string, ...texts: readonly string[]): string {
  const own = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ')
  return `sum(${own}) OVER w <= ${bytesMax}::bigint`
}

export function toShown(row: ShownRow): ShownRecord {
  return {
    ...toRecord(row),
    ...(row.input_omitted && { inputOmitted: true }),
    ...(row.result_omitted && { resultOmitted: true }),
  }
}

export function isWhole(row: ShownRow): boolean {
  return !row.input_omitted && !row.result_omitted
}

function textWhile(holds: string, name: 'input' | 'result'): string {
  const isShort = `octet_length(t.${name}) <= ${shortBodyLengthMax}`
  return `
  CASE WHEN ${holds} OR ${isShort} THEN t.${name} END AS ${name}, NOT (${holds} OR ${isShort}) AS ${name}_omitted`
}
