import { type Event, isTerminalEvent } from '../../core/event.ts'
import type { Task } from '../../core/task.ts'
import { byTask, type Case, entriesOf, type ThreadHistory } from '../history/case.ts'
import { digestOf, type EntryOf } from '../history/entry.ts'
import { broken, lineOf, type Violation } from './violation.ts'

type Stream = EntryOf<'stream'>

/** Whether every connection gave what the log holds: each number after its start once, in order, with its one content. */
export function* checkStreams(found: Case): Generator<Violation> {
  const digests = new Map<string, (string | undefined)[]>()
  for (const { thread, first, log } of found.threads.values()) {
    const known: (string | undefined)[] = Array.from({ length: first - 1 })
    for (const event of log) known.push(digestOf(event))
    digests.set(thread, known)
  }
  for (const stream of entriesOf(found, 'stream')) {
    yield* checkOrder(found, stream)
    yield* checkContent(found, stream, digests.get(stream.thread) ?? [])
  }
}

function* checkOrder(found: Case, stream: Stream): Generator<Violation> {
  const { thread, task, after, events, end } = stream
  const home = found.threads.get(thread)
  const whole = task === undefined ? undefined : ((home && byTask(home).get(task)) ?? [])
  if (home && task !== undefined && whole && isPartly(found, home, task, after)) {
    yield* checkRise(stream)
    yield* checkKept(stream, home, whole)
    return yield* checkEnd(stream, home, found.tasks.get(task))
  }
  const own = whole?.filter((event) => event.seq > after)
  let last = after
  for (const [index, [seq]] of events.entries()) {
    const due = own ? own[index]?.seq : last + 1
    if (seq !== due) {
      const promise = index === 0 ? 'G4' : 'G3'
      const wanted = due === undefined ? 'nothing' : `${due}`
      const of = task === undefined ? '' : ` for ${task}`
      return yield broken(
        promise,
        `${thread}: ${seq} came after ${last} where ${wanted} was due${of}`,
        witnessOf(stream, index),
      )
    }
    last = seq
  }
  if (!own || end !== 'end') return
  // The server said that nothing follows: then the ending was among it, or came before.
  const ending = whole?.find(isTerminalEvent)
  const isWhole = ending !== undefined && (ending.seq <= after || last === ending.seq)
  if (!isWhole)
    yield broken('G4', `the stream of ${task} ended at ${last}`, [
      ending && lineOf(ending),
      ...witnessOf(stream, events.length),
    ])
}

/** Whether a task is gone, or some of the events after this are, so that what is left does not tell what came when. */
function isPartly(found: Case, { thread, first }: ThreadHistory, task: string, after: number): boolean {
  return first > after + 1 || (found.deleted.has(thread) && !found.tasks.has(task))
}

/** A stream some of whose events are gone by now: its numbers rise. */
function* checkRise(stream: Stream): Generator<Violation> {
  let last = stream.after
  for (const [index, [seq]] of stream.events.entries()) {
    if (seq <= last) {
      const what = `${stream.thread}: ${seq} came after ${last} for ${stream.task}`
      return yield broken('G3', what, witnessOf(stream, index))
    }
    last = seq
  }
}

/** And of the events that are kept it gave each, up to the last that came, and none of another task. */
function* checkKept(stream: Stream, { first }: ThreadHistory, kept: readonly Event[]): Generator<Violation> {
  const { thread, task, after, events } = stream
  const [last = after] = events.at(-1) ?? []
  const due = kept.filter(({ seq }) => seq > after && seq <= last)
  const came = events.filter(([seq]) => seq >= first)
  const place = Array.from({ length: Math.max(due.length, came.length) }).findIndex(
    (_, index) => due[index]?.seq !== came[index]?.[0],
  )
  if (place === -1) return
  const [given, wanted] = [came[place]?.[0] ?? 'nothing', due[place]?.seq ?? 'nothing']
  const index = events.length - came.length + place
  yield broken('G3', `${thread}: ${given} came where ${wanted} was due for ${task}`, witnessOf(stream, index))
}

/** And if it came to an end, or was told that nothing follows, the task has come as far and no further. */
function* checkEnd(stream: Stream, { first }: ThreadHistory, task: Task | undefined): Generator<Violation> {
  const { after, events, end, ending, transport } = stream
  if (task && ending !== undefined && ending !== task.seq)
    yield broken(
      'G5',
      `${task.id} ended at ${ending}, and has the number ${task.seq}`,
      witnessOf(stream, events.length),
    )
  if (end !== 'end' || !task || task.seq <= after) return
  const [last = after] = events.at(-1) ?? []
  // The answer to an SSE request cannot say in the middle that what follows was pruned: it ends, and whoever comes back is told.
  const isPruned = transport === 'sse' && ending === undefined && last < first - 1
  if (last === task.seq || isPruned) return
  const what = `the stream of ${task.id} ended at ${last}, and the task at ${task.seq}`
  yield broken('G4', what, witnessOf(stream, events.length))
}

/** Where a number is gone by now, whoever saw it first tells what it was. */
function* checkContent(found: Case, stream: Stream, digests: (string | undefined)[]): Generator<Violation> {
  const { thread, node } = stream
  const { first = 1, log = [] } = found.threads.get(thread) ?? {}
  for (const [index, [seq, digest]] of stream.events.entries()) {
    if (seq < first) digests[seq - 1] ??= digest
    const now = digests[seq - 1]
    if (now === digest) continue
    const event = log[seq - first]
    const what = now === undefined ? 'gone' : 'another'
    return yield broken('G2', `${thread}: ${seq} was shown by ${node} and is ${what}`, [
      event,
      ...witnessOf(stream, index),
    ])
  }
}

/** The place where it went wrong, with what came before and after it on the connection. */
function witnessOf({ events, ...stream }: Stream, index: number): unknown[] {
  return [{ ...stream, events: events.slice(Math.max(0, index - 2), index + 2) }]
}
