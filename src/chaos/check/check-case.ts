import { byTask, type Case, entriesOf } from '../history/case.ts'
import { isAcknowledged } from '../history/entry.ts'
import { readHistory } from '../history/read-history.ts'
import { Misuse } from '../misuse.ts'
import { checkAcknowledged } from './check-acknowledged.ts'
import { checkEffects } from './check-effects.ts'
import { checkForgotten } from './check-forgotten.ts'
import { checkHostile } from './check-hostile.ts'
import { checkLogs } from './check-log.ts'
import { checkMail } from './check-mail.ts'
import { checkQueues } from './check-queue.ts'
import { checkStreams } from './check-streams.ts'
import { checkWorld } from './check-world.ts'
import type { Check, Violation } from './violation.ts'

const checks: readonly Check[] = [
  checkLogs,
  checkQueues,
  checkAcknowledged,
  checkMail,
  checkStreams,
  checkEffects,
  checkWorld,
  checkForgotten,
  checkHostile,
]

/** All that is wrong with a round. */
function violationsOf(found: Case): Violation[] {
  return checks.flatMap((check) => [...check(found)])
}

/** How much a history puts to the test. */
export interface Counts {
  /** Operations that were answered. */
  readonly acknowledged: number
  readonly accepted: number
  /** Answers to a key that had been acknowledged before. */
  readonly repeated: number
  /** Runs that became a message to one under way. */
  readonly steered: number
  /** Runs that took the place of others. */
  readonly interrupted: number
  /** Cancels that took something. */
  readonly cancelled: number
  readonly sent: number
  readonly settled: number
  readonly collected: number
  readonly refused: number
  /** Requests of which nobody knows what became. */
  readonly unanswered: number
  /** Requests for what is another's. */
  readonly probes: number
  /** Threads that were deleted, and times that threads were pruned. */
  readonly deleted: number
  readonly pruned: number
  /** Readers that came too late for what was deleted or pruned, and went on from a snapshot. */
  readonly late: number
  /** Hostile requests, and idle streams that were open at once. */
  readonly hostile: number
  readonly idle: number
  readonly streams: number
  /** Streams that broke in the middle while their node was well. */
  readonly cuts: number
  /** Events that came over all connections. */
  readonly shown: number
  /** Steps, as the world outside saw them executed. */
  readonly effects: number
  readonly tasks: number
  readonly events: number
  /** Tasks that were gone on with after their first attempt. */
  readonly resumed: number
  /** Tasks that were begun on one node and gone on with on another. */
  readonly moved: number
  /** Tasks that were given up, because nodes died of them. */
  readonly poisoned: number
}

function countsOf(found: Case): Counts {
  const tasks = [...found.tasks.values()]
  const accepted = entriesOf(found, 'accepted')
  const streams = entriesOf(found, 'stream')
  const count = (isCounted: boolean[]) => isCounted.filter(Boolean).length
  return {
    acknowledged: found.entries.filter(isAcknowledged).length,
    accepted: accepted.length,
    repeated: count(accepted.map(({ repeat }) => repeat !== undefined)),
    steered: count(accepted.map(({ steered }) => steered !== undefined)),
    interrupted: count(accepted.map(({ interrupted = [] }) => interrupted.length > 0)),
    cancelled: count(entriesOf(found, 'cancelled').map((entry) => entry.tasks.length > 0)),
    sent: entriesOf(found, 'sent').length,
    settled: entriesOf(found, 'settled').length,
    collected: count(entriesOf(found, 'collected').map((entry) => entry.tasks.length > 0)),
    refused: entriesOf(found, 'refused').length,
    unanswered: entriesOf(found, 'unanswered').length,
    probes: entriesOf(found, 'probe').length,
    deleted: entriesOf(found, 'deleted').length,
    pruned: entriesOf(found, 'pruned').length,
    late: count(entriesOf(found, 'refused').map(({ code }) => code === 'offset_gone')),
    hostile: entriesOf(found, 'hostile').reduce((sum, { sent }) => sum + sent, 0),
    idle: entriesOf(found, 'memory').reduce((sum, { idle = 0 }) => sum + idle, 0),
    streams: streams.length,
    cuts: count(streams.map(({ end, events }) => end === 'cut' && events.length > 0)),
    shown: streams.reduce((sum, { events }) => sum + events.length, 0),
    effects: entriesOf(found, 'effect').length,
    tasks: tasks.length,
    events: [...found.threads.values()].reduce((sum, { head }) => sum + head, 0),
    resumed: count(tasks.map(({ attempt }) => attempt > 1)),
    moved: movedIn(found),
    poisoned: count(tasks.map(({ error }) => error?.code === 'poisoned')),
  }
}

/** Tasks that were begun on one node and gone on with on another. */
function movedIn(found: Case): number {
  let count = 0
  for (const thread of found.threads.values()) {
    for (const events of byTask(thread).values()) {
      const nodes = events.flatMap((event) =>
        event.type === 'task.started' || event.type === 'task.resumed' ? [event.data.node] : [],
      )
      if (new Set(nodes).size > 1) count += 1
    }
  }
  return count
}

/** What a checker found in a history file. */
export interface Verdict {
  readonly rounds: number
  readonly counts: Counts
  readonly faults: Readonly<Record<string, number>>
  /** Those with the smallest witness first. */
  readonly violations: readonly Violation[]
  /** What was asked for and had not come about when a round came to a standstill. */
  readonly missing: readonly string[]
  /** Whether there was something to hold, nothing is missing, and nothing was broken. */
  readonly holds: boolean
}

/** Reads a history file, and nothing else, and tells what it proves. */
export async function checkHistory(path: string): Promise<Verdict> {
  const violations: Violation[] = []
  const missing: string[] = []
  const faults: Record<string, number> = {}
  let counts: Counts | undefined
  let rounds = 0
  for await (const found of readHistory(path)) {
    rounds += 1
    violations.push(...violationsOf(found))
    counts = sumOf(counts, countsOf(found))
    missing.push(...entriesOf(found, 'missing').map(({ what }) => what))
    for (const { fault } of entriesOf(found, 'fault')) faults[fault] = (faults[fault] ?? 0) + 1
  }
  if (!counts) throw new Misuse(`${path} holds no history`)
  violations.sort((one, two) => sizeOf(one) - sizeOf(two))
  const holds = violations.length === 0 && missing.length === 0 && counts.acknowledged > 0
  return { rounds, counts, faults, violations, missing, holds }
}

function sizeOf({ witness }: Violation): number {
  return witness.reduce((sum, line) => sum + line.length, 0)
}

function sumOf(one: Counts | undefined, two: Counts): Counts {
  if (!one) return two
  const sum: Record<keyof Counts, number> = { ...one }
  for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += two[name]
  return sum
}
