import { toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

// A crash of the server may lose a renewal, which shortens a lease and breaks nothing; so it does not wait for the disk.
// Nodes whose lease ran out an hour ago are forgotten.
const renewLease = `
  WITH async AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true), coalesce($3::bigint, holdfast.clock_ms()) AS now
  ), before AS (
    SELECT n.until_at FROM holdfast.nodes n WHERE n.id = $1
  ), forgotten AS (
    DELETE FROM holdfast.nodes d WHERE d.id IN (
      SELECT n.id FROM holdfast.nodes n, async WHERE n.until_at < async.now - 3600000 AND n.id <> $1 FOR UPDATE OF n SKIP LOCKED
    )
  ), renewed AS (
    INSERT INTO holdfast.nodes (id, until_at) SELECT $1, async.now + $2::bigint FROM async
    ON CONFLICT (id) DO UPDATE SET until_at = excluded.until_at
  )
  SELECT async.now, coalesce((SELECT before.until_at > async.now FROM before), false) AS was_held FROM async`

const answerMsMin = 500

/** Renews a node's lease, or gives it up if `leaseMs` is 0: then it is over at once. */
export async function renewLeaseOf(
  connection: Connection,
  node: string,
  leaseMs: number,
  now: number | undefined,
): Promise<{ readonly now: number; readonly wasHeld: boolean }> {
  const values = [toColumn(node), leaseMs, now ?? null]
  // What is not answered by then is better asked again, over another connection, while the lease still holds.
  const timeoutMs = Math.max(answerMsMin, Math.floor(leaseMs / 3))
  const [row] = await connection.query<{ now: number; was_held: boolean }>({ sql: renewLease, values, timeoutMs })
  if (!row) throw new Error('The renewal was not answered')
  return { now: row.now, wasHeld: row.was_held }
}

const allocateTasks = `
  UPDATE holdfast.meta SET next_task = next_task + $1::bigint RETURNING next_task - $1::bigint AS first`

/** Waits for the disk: nodes keep the numbers over a crash of the server, and must not be given any of them again. */
export async function allocateNumbers(connection: Connection, count: number, timeoutMs: number): Promise<number> {
  const [row] = await connection.query<{ first: number }>({ sql: allocateTasks, values: [count], timeoutMs })
  if (!row) throw new Error('There is no row to allocate task numbers from')
  return row.first
}
