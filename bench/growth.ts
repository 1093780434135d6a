// Does the past make the present slower? Run with `node bench/growth.ts`.
//
// Two SQLite stores that differ in one thing only, of which the second holds ten times as much: threads, ended tasks of one
// thread, or events of one thread. On both, in turns: one append (an event emitted and on disk), one claim (the store is
// asked for work and has none), one attach (a subscription to a thread's last events, until the first is there).
// Compared are the medians. Not measured: a file larger than memory, the growth of what is live.

import { type AgentContext, createRuntime } from '../src/index.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import type { Store } from '../src/stores/store.ts'
import { report } from './figures.ts'
import { fill, type Past } from './grown-store.ts'
import { median, timed } from './rounds.ts'
import { payload, withPath } from './sqlite-load.ts'

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

type Operation = 'append' | 'claim' | 'attach'

interface Present {
  readonly operations: Record<Operation, () => Promise<unknown>>
  close(): Promise<void>
}

async function open(path: string, past: Past): Promise<Present> {
  const store = sqliteStore({ path })
  await store.open()
  await fill(store, past)
  await store.close()
  const asked = orders()
  const appender = async (ctx: AgentContext) => {
    for await (const done of asked) {
      await ctx.emit(payload.name, payload.payload)
      await ctx.step('flushed', () => null)
      done()
    }
  }
  const opened: Store = sqliteStore({ path })
  const runtime = createRuntime({ store: opened, agents: { appender } })
  await runtime.run({ thread, agent: 'appender', prompt: 'go' })
  const query = { node: 'node_2', agents: ['appender', 'past'], starts: 100, orphans: 0, withCounts: false }
  return {
    operations: {
      append: asked.next,
      claim: () => opened.claim(query),
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

async function measure(name: string, past: Past): Promise<void> {
  await withPath((path) =>
    withPath(async (largePath) => {
      const [small, large] = [await open(path, past), await open(largePath, tenTimes(name, past))]
      for (const operation of ['append', 'claim', 'attach'] as const) {
        const took: { small: number; large: number }[] = []
        for (let round = -10; round < roundCount; round++) {
          const pair = {
            small: await timed(small.operations[operation]),
            large: await timed(large.operations[operation]),
          }
          if (round >= 0) took.push(pair)
        }
        const [smallMs, largeMs] = [median(took.map((pair) => pair.small)), median(took.map((pair) => pair.large))]
        report({
          what: `${operation} with ten times the ${name}`,
          value: largeMs / smallMs,
          unit: '×',
          atMost: 1.5,
          of: `${largeMs.toFixed(2)} ms against ${smallMs.toFixed(2)} ms`,
        })
      }
      await Promise.all([small.close(), large.close()])
    }),
  )
}

for (const [name, past] of Object.entries(pasts)) await measure(name, past)
