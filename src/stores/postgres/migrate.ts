import { connected } from './connected.ts'
import { locate } from './location.ts'
import { checkServer, migrate, readSchema, type SchemaState } from './schema.ts'

/** What a store is called in messages: its URL without user and password. */
export function nameOf(url: string): string {
  return locate(url).name
}

/** What schema a store has, and what it lacks. Changes nothing. */
export async function readStoreSchema(url: string): Promise<SchemaState> {
  const place = locate(url)
  return connected(place, (connection) => readSchema(connection, place))
}

/** Migrates as the start of a node does, under the lock; nodes may be at work meanwhile. Says what the schema is then. */
export async function migrateStore(url: string): Promise<SchemaState> {
  const place = locate(url)
  return connected(place, async (connection) => {
    await checkServer(connection, place)
    await migrate(connection, place, true)
    return readSchema(connection, place)
  })
}
