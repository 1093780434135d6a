import { type Case, entriesOf, logOf, type ThreadHistory } from '../history/case.ts'
import type { Deletes, EntryOf } from '../history/entry.ts'
import { broken, type Violation } from './violation.ts'

/** Whether all that is gone was asked to go, and nothing of it is left. */
export function* checkForgotten(found: Case): Generator<Violation> {
  for (const thread of found.threads.values()) {
    const [principal = ''] = thread.thread.split('/')
    const isAsked = found.deleted.has(thread.thread) || found.pruned.has(principal)
    if (thread.first > 1 && !isAsked)
      yield broken('G2', `${thread.thread}: what is before ${thread.first} is gone, and nobody asked for that`)
    if (found.deleted.has(thread.thread)) yield* checkDeleted(found, thread)
    else if (found.pruned.has(principal)) yield* checkPruned(found, thread, principal)
  }
  yield* checkLate(found)
}

/**
 * Whether a delete may have taken what a request found: one that had no answer when the request was sent, or that was asked for
 * later. Where a history does not say how that stood, any delete may.
 */
export function mayBeDeleted(found: Case, thread: string, deletes: Deletes | undefined): boolean {
  const askedInAll = found.deleted.get(thread) ?? 0
  if (askedInAll === 0 || !deletes) return askedInAll > 0
  return deletes.asked > deletes.answered || askedInAll > deletes.asked
}

/** Whether a task that was accepted went with its thread. */
export function isGone(found: Case, { thread, seq, deletes }: EntryOf<'accepted'>): boolean {
  const { first = 1 } = found.threads.get(thread) ?? {}
  return seq !== undefined && seq < first && mayBeDeleted(found, thread, deletes)
}

/** Whether what a log told of a task, or of any if none is given, may be in it no more. */
export function isForgotten(found: Case, thread: string, task?: string): boolean {
  const home = found.threads.get(thread)
  if (!home || home.first === 1) return false
  // What is left of a log holds all of a task whose beginning it holds.
  return task === undefined || !logOf(home, 'task.accepted').some((event) => event.task === task)
}

/** What stood in a thread when it was deleted is gone, whatever it was, and its numbers are not given out again. */
function* checkDeleted(found: Case, { thread, first, messages }: ThreadHistory): Generator<Violation> {
  for (const entry of entriesOf(found, 'deleted')) {
    if (entry.thread === thread && first <= entry.head)
      yield broken('G2', `${thread} was deleted, and ${first} is still in its log`, [entry])
  }
  for (const message of messages) {
    if (message.seq < first) yield broken('G2', `${thread} was deleted, and its message ${message.id} is there`)
  }
  for (const entry of entriesOf(found, 'accepted')) {
    if (entry.thread === thread && isGone(found, entry) && found.tasks.has(entry.task))
      yield broken('G2', `${thread} was deleted, and ${entry.task} is there`, [entry])
  }
}

/** No more went than was asked for, and no result that nobody took lost its log. */
function* checkPruned(found: Case, thread: ThreadHistory, principal: string): Generator<Violation> {
  const prunes = entriesOf(found, 'pruning').filter((entry) => entry.principal === principal)
  const keep = Math.min(...prunes.map((entry) => entry.keep))
  const left = thread.head - thread.first + 1
  if (thread.first > 1 && left < keep)
    yield broken('G2', `${thread.thread}: ${left} events are left where ${keep} were to be kept`, prunes)
  const begun = new Set<string>(logOf(thread, 'task.accepted').flatMap(({ task }) => task ?? []))
  for (const task of thread.untaken) {
    if (!begun.has(task)) yield broken('G12', `the log of ${task} was pruned, and its result waits`, prunes)
  }
}

/** Whoever is told to come too late does, and in a thread of which something is gone. */
function* checkLate(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'refused')) {
    if (entry.code !== 'offset_gone') continue
    const { thread = '', after = 0, first } = entry
    const { first: now = 1 } = found.threads.get(thread) ?? {}
    if (first === undefined || after >= first - 1 || first > now)
      yield broken('G4', `${thread}: after ${after} was refused as gone, where ${now} is the first that is kept`, [
        entry,
      ])
  }
}
