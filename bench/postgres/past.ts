import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { PostgresServer } from '../../tests/postgres/harness/server.ts'

/** What a store is made to hold: the past of an installation, all of it ended. */
export interface PastRows {
  readonly threads: number
  readonly tasksPerThread: number
  readonly chunksPerThread: number
  readonly eventsPerChunk: number
}

const addThreads = `
  INSERT INTO threads (key, principal, first, head, rev, wakes, at)
  SELECT 'owner/thread-' || x, 'owner', 1, $2::bigint, 0, 0, 1700000000000 + x FROM generate_series(1, $1::integer) AS x`

const addTasks = `
  INSERT INTO tasks (id, thread, principal, type, agent, status, place, ready, taken, closure, node, attempt, epoch,
    first_seq, started_seq, seq, end_seq, created_at, started_at, completed_at, progress, doc)
  SELECT 'bg_' || x, x % $1::integer + 1, 'owner', 'run', 'past', 'completed', x / $1::integer, false, false, false, '', 1, 1,
    1, 2, 3, 3, 1700000000000 + x, 1700000000000 + x, 1700000000000 + x, 1,
    '{"description":"past","asked":"prompt","depth":0,"inbox":true,"crashes":0}'
  FROM generate_series(0, $1::integer * $2::integer - 1) AS x`

const addChunks = `
  INSERT INTO chunks (thread, first, last, at, body)
  SELECT t, c * $3::integer + 1, (c + 1) * $3::integer, 1700000000000 + t,
    repeat(E'custom\\tbg_1\\t1\\t\\t{"name":"tick","payload":"' || repeat('x', 273) || E'"}\\n', $3::integer - 1)
      || E'custom\\tbg_1\\t1\\t\\t{"name":"tick","payload":"last"}'
  FROM generate_series(1, $1::integer) AS t, generate_series(0, $2::integer - 1) AS c`

/** Makes a store and writes a past into it by plain statements, which is many times as fast as to have lived it. */
export async function fillWithPast(server: PostgresServer, url: string, past: PastRows): Promise<void> {
  const store = postgresStore({ url })
  await store.open()
  await store.close()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`SET search_path = ${new URL(url).searchParams.get('schema')}; SET synchronous_commit = off`)
  const { threads, tasksPerThread, chunksPerThread, eventsPerChunk } = past
  await client.query(addThreads, [threads, chunksPerThread * eventsPerChunk])
  await client.query(addTasks, [threads, tasksPerThread])
  await client.query(addChunks, [threads, chunksPerThread, eventsPerChunk])
  await client.query('UPDATE meta SET next_task = $1', [threads * tasksPerThread])
  await client.query('VACUUM ANALYZE')
  await client.end()
}
