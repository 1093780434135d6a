// What every peer is asked to do, and the answers that every server of this comparison gives to the driver.
//
// All agents produce by the same loop: an event of 300 bytes at a time, awaiting whatever the peer gives back for it, and giving
// way to the event loop every 20 events, as a model's stream does when a packet ends. What differs is `emit` alone.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerParent } from '../../server/child.ts'
import { payload } from '../../sqlite-load.ts'

/** A run: it emits so many events, at once or when the gate of that name opens; or it hangs; or it waits for a person. */
export interface Work {
  readonly kind: 'emit' | 'hang' | 'park'
  readonly count?: number
  readonly gate?: string
}

export interface Tick {
  readonly name: string
  readonly payload: string
}

/** In the last event of every run that emits, and nowhere else. */
const last: Tick = { name: 'last-of-run', payload: payload.payload }

const eventsPerTurn = 20

interface Gate {
  readonly opened: Promise<void>
  open(): void
}

const gates = new Map<string, Gate>()

function gateOf(name: string): Gate {
  const known = gates.get(name)
  if (known) return known
  const { promise, resolve } = Promise.withResolvers<void>()
  const gate = { opened: promise, open: resolve }
  gates.set(name, gate)
  return gate
}

/** Emits what the run was asked for. */
export async function produce({ count = 0, gate }: Work, emit: (tick: Tick) => unknown): Promise<void> {
  if (gate !== undefined) await gateOf(gate).opened
  for (let n = 1; n < count; n++) {
    await emit(payload)
    if (n % eventsPerTurn === 0) await nextTurn()
  }
  if (count > 0) await emit(last)
}

let endedCount = 0
let waitingCount = 0

/** Tells the driver that a run is over, so that it does not measure the next thing beside it. */
export function noteEnded(): void {
  endedCount += 1
}

/** Tells the driver that a run hangs or is parked from now on. */
export function noteWaiting(): void {
  waitingCount += 1
}

/** Bytes on the JavaScript heap and beside it, after a garbage collection. */
async function memory(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    await nextTurn()
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Answers the driver; `more` are questions that this server alone is asked. */
export function answerDriver(url: string, more: Readonly<Record<string, (given: never) => unknown>> = {}): void {
  answerParent({
    url: () => url,
    go({ gate }: { gate: string }) {
      gateOf(gate).open()
    },
    counts: () => ({ ended: endedCount, waiting: waitingCount }),
    memory,
    ...more,
  })
}
