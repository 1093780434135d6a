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
    first_seq, started_seq, seq, end_seq, created_at, started_at, completed_at, progress, doc, input, result)
  SELECT 'bg_' || x, x % $1::integer + 1, 'owner', 'run', 'past', 'completed', x / $1::integer, false, false, false, '', 1, 1,
    x / $1::integer * $3::integer + 1, x / $1::integer * $3::integer + 2, (x / $1::integer + 1) * $3::integer,
    (x / $1::integer + 1) * $3::integer, 1700000000000 + x, 1700000000000 + x, 1700000000000 + x, 1,
    '{"description":"past","asked":"prompt","depth":0,"inbox":true,"crashes":0}', '"go"', '{"done":true}'
  FROM generate_series(0, $1::integer * $2::integer - 1) AS x`

// Of each run what was asked and what was answered.
const addMessages = `
  INSERT INTO messages (thread, seq, id, role, finish, task, at, parts)
  SELECT x % $1::integer + 1, x / $1::integer * $3::integer + m.place, 'bg_' || x || '.' || m.role, m.role, m.finish, 'bg_' || x,
    1700000000000 + x, m.parts
  FROM generate_series(0, $1::integer * $2::integer - 1) AS x, (VALUES
    (3, 'user', NULL, '[{"type":"text","text":"go"}]'),
    ($3::integer - 1, 'assistant', 'end_turn', '[{"type":"text","text":"' || repeat('All is done. ', 20) || '"}]')
  ) AS m (place, role, finish, parts)`

const addBodies = `
  CREATE TEMPORARY TABLE bodies AS SELECT b.n - 1 AS n, b.body FROM unnest($1::text[]) WITH ORDINALITY AS b (body, n)`

const addChunks = `
  INSERT INTO chunks (thread, first, last, at, body)
  SELECT t, c * $3::integer + 1, (c + 1) * $3::integer, 1700000000000 + t, b.body
  FROM generate_series(1, $1::integer) AS t, generate_series(0, $2::integer - 1) AS c, bodies b
  WHERE b.n = (t * $2::integer + c) % $4::integer`

// Enough for rows that are read one after the other to differ.
const bodyCount = 256

/** Makes a store and writes a past into it by plain statements, which is many times as fast as to have lived it. */
export async function fillWithPast(server: PostgresServer, url: string, past: PastRows): Promise<void> {
  const store = postgresStore({ url })
  await store.open()
  await store.close()
  const schema = new URL(url).searchParams.get('schema') ?? ''
  const { threads, tasksPerThread, chunksPerThread, eventsPerChunk } = past
  const eventsPerTask = (chunksPerThread * eventsPerChunk) / tasksPerThread
  // On connections of their own, because each keeps a core busy.
  await Promise.all([
    connected(server, schema, async (client) => {
      await client.query(addThreads, [threads, chunksPerThread * eventsPerChunk])
      await client.query(addTasks, [threads, tasksPerThread, eventsPerTask])
      await client.query(addMessages, [threads, tasksPerThread, eventsPerTask])
      await client.query('UPDATE meta SET next_task = $1', [threads * tasksPerThread])
    }),
    connected(server, schema, async (client) => {
      await client.query(addBodies, [Array.from({ length: bodyCount }, (_, n) => bodyOf(n, eventsPerChunk))])
      await client.query(addChunks, [threads, chunksPerThread, eventsPerChunk, bodyCount])
    }),
  ])
  await connected(server, schema, async (client) => {
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
  })
}

async function connected(server: PostgresServer, schema: string, work: (client: pg.Client) => Promise<void>) {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    await client.query(`SET search_path = ${schema}; SET synchronous_commit = off`)
    await work(client)
  } finally {
    await client.end()
  }
}

const words =
  'the run reads a file and says what it found in it then asks for more of the same until nothing is left to do'

/** Events of some 300 bytes each, of words in another order in each, so that they compress about as well as what agents say. */
function bodyOf(n: number, eventCount: number): string {
  const known = words.split(' ')
  let state = n + 1
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return known[(state >>> 16) % known.length]
  }
  const event = () => {
    const text = Array.from({ length: 65 }, next).join(' ').slice(0, 273)
    return `custom\tbg_1\t1\t\t{"name":"tick","payload":"${text}"}`
  }
  return Array.from({ length: eventCount }, event).join('\n')
}
