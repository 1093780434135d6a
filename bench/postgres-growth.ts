// Does the past make the present slower on PostgreSQL? Run with `node bench/postgres-growth.ts`, or with `--share 0.1` for a tenth
// of the past, and so on.
//
// Two stores, one empty and one with 1,000,000 ended tasks in 100,000 threads, their messages, and 1,000,000 rows of the log, each
// of 20 events of some 300 bytes, written by SQL and vacuumed. On both, in turns, in a thread that is new in both: one append (an
// event emitted and committed), one claim (the store is asked for work and has none), one attach (a subscription to a thread's
// last events, until the first is there). Compared are the medians. The past is 20 million events and not 100: rows are found by
// B-trees, so what counts is how many pages a search reads, and that is reported for the index of the log, and what it would be
// with 100 million. Not measured: a database larger than memory.

import pg from 'pg'
import { complain, readFlags } from '../scripts/flags.ts'
import { postgresStore } from '../src/stores/postgres/index.ts'
import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { report } from './figures.ts'
import { newStoreUrl, withServer } from './postgres/database.ts'
import { fillWithPast, type PastRows } from './postgres/past.ts'
import { openPresent, operations, type Present, timesOf } from './present.ts'
import { timed } from './rounds.ts'

const { share } = readFlags({ share: { type: 'string', default: '1' } })
if (!(Number(share) > 0 && Number(share) <= 1)) complain(`--share is a number above 0 and at most 1, not ${share}`)
const past: PastRows = {
  threads: Math.max(1, Math.round(100_000 * Number(share))),
  tasksPerThread: 10,
  chunksPerThread: 10,
  eventsPerChunk: 20,
}
const taskCount = past.threads * past.tasksPerThread
const eventCount = past.threads * past.chunksPerThread * past.eventsPerChunk
const eventCountMeant = 100_000_000
const roundCount = 200
const thread = 'present'

async function compareOperations(empty: Present, full: Present): Promise<void> {
  for (const operation of operations) {
    const { lessMs, moreMs } = await timesOf(operation, empty, full, roundCount)
    report({
      what: `PostgreSQL: ${operation} with ${shown(taskCount)} ended tasks and ${shown(eventCount)} events`,
      value: moreMs / lessMs,
      unit: '×',
      atMost: 1.3,
      of: `${moreMs.toFixed(2)} ms against ${lessMs.toFixed(2)} ms`,
    })
  }
}

/** Pages that a search in the index of the log reads: its levels. */
async function reportDepth(server: PostgresServer, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const schema = new URL(url).searchParams.get('schema')
  const { rows } = await client.query<{ pages: number; entries: number }>(
    `SELECT relpages AS pages, reltuples AS entries FROM pg_class WHERE oid = '${schema}.chunks_pkey'::regclass`,
  )
  await client.end()
  const { pages = 1, entries = 1 } = rows[0] ?? {}
  const levels = (count: number) => Math.ceil(Math.log(count) / Math.log(entries / pages))
  report({
    what: `PostgreSQL: levels of the index of the log with ${shown(eventCountMeant)} events`,
    value: levels((entries * eventCountMeant) / eventCount),
    unit: ' pages',
    atMost: levels(entries) + 1,
    of: `${levels(entries)} with ${shown(eventCount)}; ${shown(pages)} pages of ${(entries / pages).toFixed(0)} entries`,
  })
}

function shown(count: number): string {
  return count.toLocaleString('en')
}

await withServer(
  async (server) => {
    const [emptyUrl, fullUrl] = [newStoreUrl(server), newStoreUrl(server)]
    const filledMs = await timed(() => fillWithPast(server, fullUrl, past))
    console.error(`the past was written in ${(filledMs / 1000).toFixed(0)} s`)
    const [empty, full] = [
      await openPresent(postgresStore({ url: emptyUrl }), thread),
      await openPresent(postgresStore({ url: fullUrl }), thread),
    ]
    await compareOperations(empty, full)
    await Promise.all([empty.close(), full.close()])
    await reportDepth(server, fullUrl)
  },
  { max_wal_size: '16GB', checkpoint_timeout: '30min', shared_buffers: '512MB', maintenance_work_mem: '256MB' },
)
