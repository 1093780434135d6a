import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const schema = new URL('../src/stores/sqlite/migrations/0001_initial.sql', import.meta.url)

/** A database with our schema and settings and nothing of our code: what the baselines write to. */
export function bareDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -32768')
  database.exec(readFileSync(schema, 'utf8'))
  return database
}
