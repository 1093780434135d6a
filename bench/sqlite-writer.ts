// Where SQLite commits: on the main thread or on one of its own? Run with `node bench/sqlite-writer.ts`.
//
// It measures events per second and the delay of the main thread's event loop while 100 tasks emit events of 300 bytes
// and commits of 500 events follow each other, for three hosts of the same writes: the writer on the main thread, the
// writer on its thread (what the store does with commits as large), and bare `node:sqlite` with chunk inserts and nothing else: no fence, no
// task or thread rows. `paced` leaves 5 ms between commits, as an idle-enough system does; `busy` has the main thread
// compute 3 ms per commit, as it does with many watchers. It does not measure reading, nor disks other than this one.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Unit } from '../src/core/unit.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { LineBytes } from '../src/stores/sqlite/line-bytes.ts'
import { packBatch } from '../src/stores/sqlite/packed-batch.ts'
import { SqliteWriter } from '../src/stores/sqlite/writer.ts'
import { acceptUnit, emitUnit, eventBytes, fileBytes, payload, quantile, withPath } from './sqlite-load.ts'

const taskCount = 100
const eventsPerTask = 5
const roundMs = Number(process.argv[2] ?? 1_000)
const roundCount = Number(process.argv[3] ?? 7)

interface Host {
  commit(units: readonly Unit[]): Promise<unknown> | unknown
  close(): Promise<void> | void
}

type HostName = 'bare node:sqlite' | 'main thread' | 'own thread'

const hosts: Record<HostName, (path: string) => Promise<Host>> = {
  'bare node:sqlite': async (path) => bareHost(path),

  async 'main thread'(path) {
    const writer = new SqliteWriter({ path, mayMigrate: true })
    const moment = () => ({ now: Date.now(), nextTask: taskCount, leaseHolders: [] })
    const commit = (units: readonly Unit[]) => writer.apply(packBatch(units, new LineBytes()), moment())
    return { commit, close: () => writer.close(taskCount) }
  },

  async 'own thread'(path) {
    const store = sqliteStore({ path, clock: { now: () => Date.now() } })
    await store.open()
    return store
  },
}

function bareHost(path: string): Host {
  const database = new DatabaseSync(path)
  database.exec(`
    PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 8000;
    CREATE TABLE chunks (n INTEGER PRIMARY KEY, thread INTEGER, first INTEGER, last INTEGER, at INTEGER, body TEXT) STRICT;
    CREATE UNIQUE INDEX chunks_by_first ON chunks (thread, first)`)
  const insert = database.prepare('INSERT INTO chunks (thread, first, last, at, body) VALUES (?, ?, ?, ?, ?)')
  let head = 0
  return {
    commit(units) {
      database.exec('BEGIN IMMEDIATE')
      units.forEach((unit, thread) => {
        const body = unit.events.map(() => JSON.stringify(payload)).join('\n')
        if (body !== '') insert.run(thread, head + 1, head + unit.events.length, Date.now(), body)
      })
      database.exec('COMMIT')
      head += eventsPerTask
    },
    close: () => database.close(),
  }
}

type Load = 'full' | 'paced' | 'busy'

interface Round {
  readonly perSecond: number
  readonly commitMs: number[]
  readonly delayMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly bytesPerEvent: number
}

async function measure(name: HostName, load: Load): Promise<Round> {
  return withPath(async (path) => {
    const host = await hosts[name](path)
    await host.commit(Array.from({ length: taskCount }, (_, n) => acceptUnit(n)))
    const delay = monitorEventLoopDelay({ resolution: 1 })
    const commitMs: number[] = []
    delay.enable()
    const startedAt = performance.now()
    while (performance.now() - startedAt < roundMs) {
      if (load === 'paced') await sleep(5)
      else await nextTurn()
      // Bare, the text is encoded amid the inserts; the other hosts are given units, as the runtime makes them.
      const units = Array.from({ length: taskCount }, (_, n) => emitUnit(n, eventsPerTask))
      const beganAt = performance.now()
      const committed = host.commit(units)
      if (load === 'busy') compute(3)
      await committed
      commitMs.push(performance.now() - beganAt)
    }
    const seconds = (performance.now() - startedAt) / 1000
    delay.disable()
    await host.close()
    const eventCount = commitMs.length * taskCount * eventsPerTask
    return {
      perSecond: eventCount / seconds,
      commitMs,
      delayMs: { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 },
      bytesPerEvent: fileBytes(path) / eventCount,
    }
  })
}

function compute(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function show(name: HostName, load: Load, rounds: readonly Round[], bare: number): string {
  const median = (pick: (round: Round) => number) => quantile(rounds.map(pick), 0.5)
  const perSecond = median((round) => round.perSecond)
  return [
    `${load.padEnd(5)} ${name.padEnd(16)} ${Math.round(perSecond).toLocaleString('en').padStart(8)} events/s`,
    `${(perSecond / bare).toFixed(2)} of bare`,
    `commit p50 ${median((round) => quantile(round.commitMs, 0.5)).toFixed(1)} ms`,
    `p99 ${median((round) => quantile(round.commitMs, 0.99)).toFixed(1)} ms`,
    `loop delay p50 ${median((round) => round.delayMs.p50).toFixed(1)} ms`,
    `p99 ${median((round) => round.delayMs.p99).toFixed(1)} ms`,
    `max ${Math.max(...rounds.map((round) => round.delayMs.max)).toFixed(0)} ms`,
    `${median((round) => round.bytesPerEvent).toFixed(0)} bytes/event`,
  ].join('  ')
}

console.log(`${taskCount} tasks, ${taskCount * eventsPerTask} events of ${eventBytes} bytes per commit`)
console.log(`medians of ${roundCount} rounds of ${roundMs} ms, the hosts taking turns; max is of all rounds`)
const names = Object.keys(hosts) as HostName[]
for (const load of ['full', 'paced', 'busy'] as const) {
  const rounds = new Map<HostName, Round[]>(names.map((name) => [name, []]))
  for (let round = 0; round < roundCount; round++) {
    for (const name of names) rounds.get(name)?.push(await measure(name, load))
  }
  const bare = quantile(rounds.get('bare node:sqlite')?.map((round) => round.perSecond) ?? [], 0.5)
  for (const name of names) console.log(show(name, load, rounds.get(name) ?? [], bare))
}
