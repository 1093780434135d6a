import { arrayText } from './column-text.ts'

export type Row = Readonly<Record<string, string | number | boolean | undefined>>

/** Rows as lists, one for each column that any of them has: the server reads them several times as fast as rows in JSON. */
export function listsOf(rows: readonly Row[]): Record<string, string> {
  const names = new Set<string>()
  for (const row of rows) for (const name in row) if (row[name] !== undefined) names.add(name)
  return Object.fromEntries([...names].map((name) => [name, arrayText(rows.map((row) => row[name]))]))
}
