import type { JsonText } from './id.ts'
import type { ShownRecord, TaskRecord } from './task.ts'

/** What is no longer than this is shown wherever it stands: however many tasks are shown, it does not come to much. */
export const shortBodyLengthMax = 400

/** The record without what is long of these. */
export function withoutLong(record: TaskRecord, ...fields: readonly ('input' | 'result')[]): ShownRecord {
  const shown: { -readonly [Field in keyof ShownRecord]: ShownRecord[Field] } = { ...record }
  for (const field of fields) {
    if (!isLong(record[field])) continue
    delete shown[field]
    shown[`${field}Omitted`] = true
  }
  return shown
}

function isLong(body: JsonText | undefined): boolean {
  return body !== undefined && body.length > shortBodyLengthMax
}

/** How many of the first ones do not pass a bound together. */
export function countWithin(sizes: Iterable<number>, bytesMax: number): number {
  let count = 0
  let sum = 0
  for (const size of sizes) {
    sum += size
    if (sum > bytesMax) break
    count += 1
  }
  return count
}
