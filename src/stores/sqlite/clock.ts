import { DatabaseSync } from 'node:sqlite'

/** The time as SQLite tells it, in whole milliseconds: the clock of a store that is given no other. */
export function sqliteClock(): { now(): number } {
  const select = new DatabaseSync(':memory:').prepare(
    `SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) AS now`,
  )
  return { now: () => Number(select.get()?.['now']) }
}
