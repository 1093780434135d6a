// Does the past make the present slower? Run with `node bench/growth.ts`.
//
// Two SQLite stores that differ in one thing only, of which the second holds ten times as much: threads, ended tasks of one
// thread, or events of one thread. On both, in turns: one append (an event emitted and on disk), one claim (the store is
// asked for work and has none), one attach (a subscription to a thread's last events, until the first is there).
// Compared are the medians. Not measured: a file larger than memory, the growth of what is live.

import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { report } from './figures.ts'
import { fill, type Past } from './grown-store.ts'
import { openPresent, operations, type Present, timesOf } from './present.ts'
import { withPath } from './sqlite-load.ts'

const thread = 'thread-0'
const roundCount = 100

const pasts: Record<string, Past> = {
  threads: { threadCount: 1_000, tasksPerThread: 1, eventsPerTask: 5 },
  'ended tasks': { threadCount: 1, tasksPerThread: 1_000, eventsPerTask: 0 },
  history: { threadCount: 1, tasksPerThread: 1, eventsPerTask: 10_000 },
}

function tenTimes(name: string, past: Past): Past {
  if (name === 'threads') return { ...past, threadCount: past.threadCount * 10 }
  if (name === 'ended tasks') return { ...past, tasksPerThread: past.tasksPerThread * 10 }
  return { ...past, eventsPerTask: past.eventsPerTask * 10 }
}

async function open(path: string, past: Past): Promise<Present> {
  const store = sqliteStore({ path })
  await store.open()
  await fill(store, past)
  await store.close()
  return openPresent(sqliteStore({ path }), thread)
}

async function measure(name: string, past: Past): Promise<void> {
  await withPath((path) =>
    withPath(async (largePath) => {
      const [small, large] = [await open(path, past), await open(largePath, tenTimes(name, past))]
      for (const operation of operations) {
        const { lessMs, moreMs } = await timesOf(operation, small, large, roundCount)
        report({
          what: `${operation} with ten times the ${name}`,
          value: moreMs / lessMs,
          unit: '×',
          atMost: 1.5,
          of: `${moreMs.toFixed(2)} ms against ${lessMs.toFixed(2)} ms`,
        })
      }
      await Promise.all([small.close(), large.close()])
    }),
  )
}

for (const [name, past] of Object.entries(pasts)) await measure(name, past)
