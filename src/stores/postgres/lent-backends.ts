import type { Connection } from './connection.ts'

// In a pool at rest the first round tells. One that is busy may by chance lend each of them the same again.
const roundCount = 3
const answerMs = 3_000

/**
 * Whether a pooler lends its connections anew with every transaction, seen by the server processes that two live connections
 * get: one gets another process than before, because its own was put behind others, or the same as the other connection, because
 * its own was put on top. Whoever has a process to itself sees neither.
 */
export async function areLent(one: () => Promise<number>, other: () => Promise<number>): Promise<boolean> {
  const seen = new Set<number>()
  for (let n = 0; n < roundCount; n++) {
    seen.add(await one()).add(await one())
    if (seen.size > 1 || seen.has(await other())) return true
  }
  return false
}

/** The number of the server process that answers. */
export async function backendOf(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ pid: number }>({ sql: 'SELECT pg_backend_pid() AS pid', timeoutMs: answerMs })
  if (!row) throw new Error('The server did not say who answers')
  return row.pid
}
