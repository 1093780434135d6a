import { existsSync } from 'node:fs'
import { Connection } from './connection.ts'
import { translateOpening } from './failure.ts'
import { inspectStore } from './inspect.ts'
import { readSchema, type SchemaState, type SchemaVersion } from './schema.ts'
import { sqliteStore } from './sqlite-store.ts'

/** What schema a store has, and what it lacks. A file that is not there lacks everything, and is not made. */
export function readStoreSchema(path: string): SchemaState {
  if (existsSync(path)) return inspectStore(path, { isQuick: true }).schema
  try {
    const nothing = new Connection(':memory:', 'write')
    try {
      return readSchema(nothing, path)
    } finally {
      nothing.close()
    }
  } catch (error) {
    throw translateOpening(error, path)
  }
}

/** Migrates as any opening does, under the lock, and says what the schema is then. */
export async function migrateStore(path: string): Promise<SchemaVersion> {
  const store = sqliteStore({ path })
  await store.open()
  await store.close()
  const { found, newest } = readStoreSchema(path)
  return found ?? newest
}
