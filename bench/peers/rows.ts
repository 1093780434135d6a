// What is measured of every peer: one figure per visit to it.

import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../rounds.ts'
import type { Child } from '../server/child.ts'
import type { Accepted, Port, Work } from './client/port.ts'
import { openAll, Stream, send } from './client/wire.ts'
import type { RowName } from './table.ts'

export interface Visit {
  readonly port: Port
  readonly child: Child
  readonly isQuick: boolean
  /** Fires when the server is ended, also in the middle of a row. */
  readonly signal: AbortSignal
}

type Measure = (visit: Visit) => Promise<number>

const eventBytes = 273
const replayedCount = 10_000
const inFlight = 32

let idCount = 0

function newId(prefix = 'run'): string {
  idCount += 1
  return `${prefix}-${process.pid}-${idCount}`
}

interface Counts {
  readonly ended: number
  readonly waiting: number
}

/** Waits until the agents of a server have ended or begun to wait so many times more than `before`. */
async function until(
  { child, signal }: Visit,
  which: keyof Counts,
  before: Counts | undefined,
  more: number,
): Promise<void> {
  if (!before) return
  for (;;) {
    signal.throwIfAborted()
    const now = await child.ask<Counts | undefined>('counts')
    if ((now?.[which] ?? 0) >= before[which] + more) return
    await sleep(5)
  }
}

const countsOf = ({ child }: Visit) => child.ask<Counts | undefined>('counts')

async function acceptMany({ port }: Visit, count: number, work: Work): Promise<Accepted[]> {
  const runs: Accepted[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next++ < count) runs.push(await port.accept(newId(), work))
    }),
  )
  return runs
}

/** Runs accepted per second, 32 in flight, of an agent that does nothing. */
async function accept(visit: Visit): Promise<number> {
  const count = visit.isQuick ? 200 : 1_000
  for (const warmUp of [true, false]) {
    const before = await countsOf(visit)
    const asked = warmUp ? count / 5 : count
    const startedAt = performance.now()
    await acceptMany(visit, asked, { kind: 'emit', count: 0 })
    const ms = performance.now() - startedAt
    await until(visit, 'ended', before, asked)
    if (!warmUp) return asked / (ms / 1000)
  }
  return Number.NaN
}

/** The median of samples, of which the first few do not count; no more of them than fit into two seconds. */
async function sampled(visit: Visit, sample: () => Promise<number>): Promise<number> {
  const [wanted, warmUpCount] = visit.isQuick ? [30, 5] : [100, 20]
  const took: number[] = []
  const startedAt = performance.now()
  while (took.length < wanted + warmUpCount) {
    took.push(await sample())
    if (took.length > 3 && performance.now() - startedAt > 2_000) break
  }
  return median(took.slice(Math.min(warmUpCount, took.length - 3)))
}

/** Milliseconds from the request to the first event at a client. */
function first(visit: Visit): Promise<number> {
  return sampled(visit, async () => {
    const { stream: wanted, afterwards } = await visit.port.first(newId())
    let startedAt = performance.now()
    const stream = new Stream(wanted, visit.port.lastMark)
    let posting: Promise<unknown> | undefined
    if (afterwards) {
      await stream.open
      startedAt = performance.now()
      posting = send(afterwards)
      posting.catch(() => undefined)
    }
    await stream.done
    const ms = performance.now() - startedAt
    await posting
    stream.close()
    return ms
  })
}

/** Milliseconds from the request to cancel to the end of the run at a client that watches it. */
function cancel(visit: Visit): Promise<number> {
  return sampled(visit, async () => {
    const { port } = visit
    const before = await countsOf(visit)
    const run = await port.accept(newId(), { kind: 'hang' })
    await until(visit, 'waiting', before, 1)
    const stream = new Stream(port.watch(run), port.cancelledMark ?? 'never in it', { endsWithResponse: true })
    await stream.open
    const wanted = port.cancel?.(run)
    if (!wanted) throw new Error('no cancel')
    const startedAt = performance.now()
    const cancelling = send(wanted)
    cancelling.catch(() => undefined)
    await stream.done
    const ms = performance.now() - startedAt
    await cancelling
    stream.close()
    return ms
  })
}

interface Streaming {
  readonly runs: number
  readonly subscribers: number
  /** Of each run. */
  readonly events: number
}

/** Milliseconds from the word to go to the moment that every subscriber has had the last event. */
async function pass({ port }: Visit, { runs, subscribers, events }: Streaming): Promise<number> {
  const gate = newId('gate')
  const work: Work = { kind: 'emit', count: events, gate }
  const accepted = await Promise.all(Array.from({ length: runs }, () => port.accept(newId(), work)))
  const wanted = accepted.flatMap((run) => Array.from({ length: subscribers }, () => port.watch(run)))
  const streams = await openAll(wanted, port.lastMark)
  let bytes = 0
  streams[0]?.tap((chunk) => {
    bytes += chunk.length
  })
  const startedAt = performance.now()
  const going = port.go(gate)
  going.catch(() => undefined)
  await Promise.all(streams.map(({ done }) => done))
  const ms = performance.now() - startedAt
  await going
  for (const stream of streams) stream.close()
  if (bytes < events * eventBytes) throw new Error(`a subscriber got ${bytes} bytes of ${events} events`)
  return ms
}

/**
 * Deliveries per second. A peer that would need longer than some seconds for a pass is given a tenth of the events, and one that
 * needs as long for that is not asked again.
 */
const streamed =
  (full: Streaming): Measure =>
  async (visit) => {
    const [passCount, budgetMs, longMs] = visit.isQuick ? [3, 500, 1_500] : [5, 1_500, 5_000]
    const tenth = { ...full, events: full.events / 10 }
    const warmUpMs = await pass(visit, tenth)
    if (warmUpMs > longMs) return rate(tenth, warmUpMs)
    const taken = warmUpMs * 10 > longMs ? tenth : full
    const took: number[] = []
    const startedAt = performance.now()
    while (took.length < passCount && (took.length === 0 || performance.now() - startedAt < budgetMs)) {
      took.push(await pass(visit, taken))
    }
    return rate(taken, median(took))
  }

function rate({ runs, subscribers, events }: Streaming, ms: number): number {
  return (runs * subscribers * events) / (ms / 1000)
}

/** The runs of 10,000 events that are replayed, one for each server. */
const replayed = new WeakMap<Child, Promise<Accepted>>()

async function makeReplayed(visit: Visit): Promise<Accepted> {
  const before = await countsOf(visit)
  const run = await visit.port.accept(newId('replayed'), { kind: 'emit', count: replayedCount })
  await until(visit, 'ended', before, 1)
  return run
}

/** Milliseconds until a fresh subscriber has had the rest of a run of 10,000 events. */
const replay =
  (from: 'beginning' | 'middle'): Measure =>
  async (visit) => {
    const { port, child } = visit
    const making = replayed.get(child) ?? makeReplayed(visit)
    replayed.set(child, making)
    const run = await making
    const took: number[] = []
    const startedAt = performance.now()
    const [wanted, warmUpCount] = visit.isQuick ? [5, 2] : [15, 5]
    while (took.length < wanted + warmUpCount && (took.length === 0 || performance.now() - startedAt < 2_000)) {
      const request = from === 'middle' ? await port.resume?.(run, replayedCount) : port.watch(run)
      if (!request) throw new Error('no resume')
      const stream = new Stream(request, port.lastMark)
      const openedAt = performance.now()
      await stream.done
      took.push(performance.now() - openedAt)
      stream.close()
    }
    return median(took.slice(Math.min(warmUpCount, took.length - 1)))
  }

/** Kilobytes that each of many idle subscribers of one waiting run takes. */
async function idleSubscriber(visit: Visit): Promise<number> {
  const { port, child, isQuick } = visit
  const count = isQuick ? 200 : 1_000
  const run = await port.accept(newId(), { kind: 'hang' })
  const some = await openAll(
    Array.from({ length: count / 4 }, () => port.watch(run)),
    'never in it',
  )
  for (const stream of some) stream.close()
  await sleep(200)
  const before = await child.ask<number>('memory')
  const streams = await openAll(
    Array.from({ length: count }, () => port.watch(run)),
    'never in it',
  )
  await sleep(200)
  const after = await child.ask<number>('memory')
  for (const stream of streams) stream.close()
  return (after - before) / count / 1000
}

/** Kilobytes that each of many parked runs takes. */
async function parkedRun(visit: Visit): Promise<number> {
  const count = visit.isQuick ? 100 : 500
  const memory: number[] = []
  for (const runs of [count / 4, count]) {
    const before = await countsOf(visit)
    await acceptMany(visit, runs, { kind: 'park' })
    await until(visit, 'waiting', before, runs)
    await sleep(200)
    memory.push(await visit.child.ask<number>('memory'))
  }
  const [few = 0, many = 0] = memory
  return (many - few) / count / 1000
}

export const measures: Readonly<Record<RowName, Measure>> = {
  accept,
  first,
  '1x1': streamed({ runs: 1, subscribers: 1, events: 10_000 }),
  '100x1': streamed({ runs: 100, subscribers: 1, events: 200 }),
  '1x100': streamed({ runs: 1, subscribers: 100, events: 2_000 }),
  '1x1000': streamed({ runs: 1, subscribers: 1_000, events: 500 }),
  replay: replay('beginning'),
  resume: replay('middle'),
  cancel,
  subscriber: idleSubscriber,
  parked: parkedRun,
}
