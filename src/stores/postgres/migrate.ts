import { connected, type LockPatience } from './connected.ts'
import type { Connection } from './connection.ts'
import { unavailable } from './failure.ts'
import { type Location, locate } from './location.ts'
import { checkServer, migrate, readSchema, type SchemaState } from './schema.ts'
import { lastingLocks } from './table-locks.ts'

/** What a store is called in messages: its URL without user and password. */
export function nameOf(url: string): string {
  return locate(url).name
}

/**
 * What schema a store has, and what it lacks. Changes nothing. Where somebody has locked what says it, that is told, unless who asks
 * `waits`.
 */
export async function readStoreSchema(url: string, { waits = false }: LockPatience = {}): Promise<SchemaState> {
  const place = locate(url)
  return connected(
    place,
    async (connection) => {
      if (!waits) await refuseLocked(connection, place)
      return readSchema(connection, place)
    },
    { waits },
  )
}

async function refuseLocked(connection: Connection, place: Location): Promise<void> {
  const locks = await lastingLocks(connection, place.schema)
  const lock = locks.find(({ table, stopsReads }) => table === 'meta' && stopsReads)
  if (!lock) return
  const who = `${lock.who} (${lock.application || 'unnamed'})`
  const how = lock.waiting === null ? `locked by ${who}` : `to be locked by ${lock.waiting}, which waits for ${who}`
  throw unavailable(place.name, `its table meta is ${how}. Run \`holdfast doctor\`, which says what to do`)
}

/** Migrates as the start of a node does, under the lock; nodes may be at work meanwhile. Says what the schema is then. */
export async function migrateStore(url: string): Promise<SchemaState> {
  const place = locate(url)
  return connected(
    place,
    async (connection) => {
      await checkServer(connection, place)
      await migrate(connection, place, true)
      return readSchema(connection, place)
    },
    { waits: true },
  )
}
