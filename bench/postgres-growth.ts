// Does the past make the present slower on PostgreSQL? Run with `node bench/postgres-growth.ts`.
//
// Two stores, one empty and one with 1,000,000 ended tasks in 100,000 threads and 1,000,000 rows of the log, each of 20 events,
// written by SQL. On both, in turns: one append (an event emitted and committed), one claim (the store is asked for work and has
// none), one attach (a subscription to a thread's last events, until the first is there). Compared are the medians. The past is
// 20 million events and not 100: rows are found by B-trees, so what counts is how many pages a search reads, and that is
// reported for the index of the log, and what it would be with five times the rows. Not measured: a database larger than memory.

import pg from 'pg'
import { type AgentContext, createRuntime, type Runtime } from '../src/index.ts'
import { postgresStore } from '../src/stores/postgres/index.ts'
import type { PostgresServer } from '../tests/postgres/harness/server.ts'
import { report } from './figures.ts'
import { newStoreUrl, withServer } from './postgres/database.ts'
import { fillWithPast, type PastRows } from './postgres/past.ts'
import { median, timed } from './rounds.ts'
import { payload } from './sqlite-load.ts'

const past: PastRows = { threads: 100_000, tasksPerThread: 10, chunksPerThread: 10, eventsPerChunk: 20 }
const roundCount = 200
const thread = 'thread-1'

interface Present {
  readonly operations: Record<'append' | 'claim' | 'attach', () => Promise<unknown>>
  close(): Promise<void>
}

async function open(url: string): Promise<Present> {
  const store = postgresStore({ url })
  const asked = orders()
  const appender = async (ctx: AgentContext) => {
    for await (const done of asked) {
      await ctx.emit(payload.name, payload.payload)
      await ctx.step('flushed', () => null)
      done()
    }
  }
  const runtime: Runtime = createRuntime({ store, agents: { appender } })
  await runtime.run({ thread, agent: 'appender', prompt: 'go' })
  for (let n = 0; n < 10; n++) await asked.next()
  const query = { node: 'node_2', agents: ['appender', 'past'], starts: 100, orphans: 0, withCounts: false }
  return {
    operations: {
      append: asked.next,
      claim: () => store.claim(query),
      attach: async () => {
        const { head } = await runtime.thread(thread)
        for await (const _event of runtime.subscribe({ thread, after: head - 5 })) break
      },
    },
    close: () => runtime.close({ drainMs: 0 }),
  }
}

/** What the bench asks its agent to do, one after the other. */
function orders() {
  let give = Promise.withResolvers<() => void>()
  return {
    next: () => new Promise<void>((resolve) => give.resolve(resolve)),
    async *[Symbol.asyncIterator](): AsyncGenerator<() => void> {
      for (;;) {
        yield await give.promise
        give = Promise.withResolvers()
      }
    },
  }
}

async function compareOperations(empty: Present, full: Present): Promise<void> {
  for (const operation of ['append', 'claim', 'attach'] as const) {
    const took: { empty: number; full: number }[] = []
    for (let round = -20; round < roundCount; round++) {
      const pair = { empty: await timed(empty.operations[operation]), full: await timed(full.operations[operation]) }
      if (round >= 0) took.push(pair)
    }
    const [emptyMs, fullMs] = [median(took.map((pair) => pair.empty)), median(took.map((pair) => pair.full))]
    report({
      what: `PostgreSQL: ${operation} with 1,000,000 ended tasks and 20,000,000 events`,
      value: fullMs / emptyMs,
      unit: '×',
      atMost: 1.3,
      of: `${fullMs.toFixed(2)} ms against ${emptyMs.toFixed(2)} ms`,
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
    what: 'PostgreSQL: levels of the index of the log with 100,000,000 events',
    value: levels(entries * 5),
    unit: ' pages',
    atMost: levels(entries) + 1,
    of: `${levels(entries)} with 20,000,000; ${pages.toLocaleString('en')} pages of ${(entries / pages).toFixed(0)} entries`,
  })
}

await withServer(
  async (server) => {
    const [emptyUrl, fullUrl] = [newStoreUrl(server), newStoreUrl(server)]
    await fillWithPast(server, fullUrl, past)
    const [empty, full] = [await open(emptyUrl), await open(fullUrl)]
    await compareOperations(empty, full)
    await Promise.all([empty.close(), full.close()])
    await reportDepth(server, fullUrl)
  },
  { max_wal_size: '4GB', shared_buffers: '512MB' },
)
