import { Connection } from './connection.ts'
import { translate } from './failure.ts'
import type { Location } from './location.ts'

/**
 * Does something on a connection of its own, of which nothing is set: behind a pooler others would find it set. What goes
 * wrong is said as a store says it.
 */
export async function connected<Value>(
  place: Location,
  work: (connection: Connection) => Promise<Value>,
): Promise<Value> {
  try {
    const connection = await Connection.open(place, {})
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  } catch (error) {
    throw translate(error, place.name)
  }
}
