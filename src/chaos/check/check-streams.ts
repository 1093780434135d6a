import { isTerminalEvent } from '../../core/event.ts'
import { type Case, entriesOf } from '../history/case.ts'
import { digestOf, type EntryOf } from '../history/entry.ts'
import { broken, lineOf, type Violation } from './violation.ts'

type Stream = EntryOf<'stream'>

/** Whether every connection gave what the log holds: each number after its start once, in order, with its one content. */
export function* checkStreams(found: Case): Generator<Violation> {
  const digests = new Map([...found.threads].map(([name, { log }]) => [name, log.map(digestOf)]))
  for (const stream of entriesOf(found, 'stream')) {
    yield* checkOrder(found, stream)
    yield* checkContent(found, stream, digests.get(stream.thread) ?? [])
  }
}

function* checkOrder(found: Case, stream: Stream): Generator<Violation> {
  const { thread, task, after, events, end } = stream
  const log = found.threads.get(thread)?.log ?? []
  const own = task === undefined ? undefined : log.filter((event) => event.task === task && event.seq > after)
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
  const ending = log.find((event) => event.task === task && isTerminalEvent(event))
  const isWhole = ending !== undefined && (ending.seq <= after || last === ending.seq)
  if (!isWhole)
    yield broken('G4', `the stream of ${task} ended at ${last}`, [
      ending && lineOf(ending),
      ...witnessOf(stream, events.length),
    ])
}

function* checkContent(found: Case, stream: Stream, digests: readonly string[]): Generator<Violation> {
  const { thread, node } = stream
  for (const [index, [seq, digest]] of stream.events.entries()) {
    const now = digests[seq - 1]
    if (now === digest) continue
    const event = found.threads.get(thread)?.log[seq - 1]
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
