import { Connection } from './connection.ts'
import { translate } from './failure.ts'
import type { Location } from './location.ts'

// A server that is well answers in a fraction of it, and who asks what is wrong wants to hear it soon.
const statementMs = 4_000
// Of a pooler's connection nothing is set, and what is sent may be lost.
const answerMs = 5_000

export interface LockPatience {
  /** However long it takes, as a migration does. */
  readonly waits?: boolean
}

/**
 * Does something on a connection of its own, on which no statement takes longer than some seconds unless it `waits`. What goes
 * wrong is said as a store says it.
 */
export async function connected<Value>(
  place: Location,
  work: (connection: Connection) => Promise<Value>,
  { waits = false }: LockPatience = {},
): Promise<Value> {
  try {
    const connection = await (waits
      ? Connection.open(place, {})
      : Connection.open(place, { statement_timeout: statementMs }, { timeoutMs: answerMs }))
    try {
      return await work(connection)
    } finally {
      await connection.close()
    }
  } catch (error) {
    throw translate(error, place.name)
  }
}
