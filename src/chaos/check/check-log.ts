import { isDeepStrictEqual } from 'node:util'
import { type Event, isTerminalEvent } from '../../core/event.ts'
import type { Task } from '../../core/task.ts'
import { byTask, type Case, endingOf, isTrimmed, logOf, ofType, type ThreadHistory, tasksIn } from '../history/case.ts'
import { broken, lineOf, type Violation } from './violation.ts'

/** Whether the logs hold together in themselves, and the records are what the logs say. */
export function* checkLogs(found: Case): Generator<Violation> {
  const seen = new Set<string>()
  const live = new Set(found.entries.flatMap((entry) => (entry.kind === 'over' ? entry.live : [])))
  for (const thread of found.threads.values()) {
    yield* checkNumbers(thread)
    yield* checkMessages(thread, live)
    yield* checkConversation(found, thread)
    for (const [id, events] of byTask(thread)) {
      if (seen.has(id)) yield broken('G15', `${id} is in two logs`)
      seen.add(id)
      if (!isTrimmed(thread, events)) {
        yield* checkBeginning(id, events)
        yield* checkAttempts(id, events)
      }
      yield* checkLife(id, events, live)
      yield* checkRecord(id, events, found.tasks.get(id))
    }
  }
  for (const { id, seq } of found.tasks.values()) {
    const { first = 1 } = found.threads.get(found.homes.get(id) ?? '') ?? {}
    if (!seen.has(id) && seq >= first) yield broken('G1', `${id} is in no log`)
  }
}

function* checkNumbers({ thread, head, first, log }: ThreadHistory): Generator<Violation> {
  if (log.length !== head - first + 1) {
    const due = first === 1 ? '' : ` and the first is ${first}`
    yield broken('G3', `${thread}: ${log.length} events where the head is ${head}${due}`)
  }
  for (const [index, event] of log.entries()) {
    const before = log[index - 1]
    if (event.seq !== first + index) {
      const witness = [before && lineOf(before), lineOf(event)]
      return yield broken('G3', `${thread}: ${event.seq} stands where ${first + index} belongs`, witness)
    }
    if (before && event.at < before.at) {
      yield broken('G3', `${thread}: time goes back at ${event.seq}`, [
        lineOf(before),
        before.at,
        lineOf(event),
        event.at,
      ])
    }
  }
}

/** Accepted once and first, and started before it writes. */
function* checkBeginning(id: string, events: readonly Event[]): Generator<Violation> {
  const lines = events.slice(0, 4).map(lineOf)
  const types = events.map((event) => event.type)
  const count = types.filter((type) => type === 'task.accepted').length
  if (count !== 1 || types[0] !== 'task.accepted') {
    yield broken('G1', `${id} was accepted ${count} times and begins with ${types[0]}`, lines.slice(0, 3))
  }
  const firstEpoch = events.findIndex((event) => event.epoch !== undefined)
  if (firstEpoch !== -1 && firstEpoch !== types.indexOf('task.started'))
    yield broken('G6', `${id} wrote before it was started`, lines)
}

/** Started at most once, ended once, and nothing after that. */
function* checkLife(id: string, events: readonly Event[], live: ReadonlySet<string>): Generator<Violation> {
  const lines = () => events.map(lineOf)
  const endings = events.filter(isTerminalEvent)
  const last = events.at(-1)
  if (endings.length > 1) yield broken('G5', `${id} has ${endings.length} endings`, endings.map(lineOf))
  if (endings.length === 0 && !live.has(id)) yield broken('G19', `${id} has no ending`, lines().slice(-3))
  if (endings[0] && last && !isTerminalEvent(last)) {
    yield broken('G5', `${id}: ${last.type} at ${last.seq} is after its ending`, [lineOf(endings[0]), lineOf(last)])
  }
  const startCount = events.filter((event) => event.type === 'task.started').length
  if (startCount > 1) yield broken('G11', `${id} was started twice`, lines())
  yield* checkCancelled(id, events)
}

/** Who was told of its cancel ends cancelled, is told once and never resumed. */
function* checkCancelled(id: string, events: readonly Event[]): Generator<Violation> {
  const told = ofType(events, 'task.cancelling')
  const [first] = told
  if (!first) return
  const ending = endingOf(events)
  const witness = [lineOf(first), ending && lineOf(ending)]
  if (told.length > 1) yield broken('G7', `${id} was told twice of its cancel`, told.map(lineOf))
  if (ending && ending.type !== 'task.cancelled')
    yield broken('G7', `${id} ended as ${ending.type} although cancelled`, witness)
  const resumed = events.find((event) => event.type === 'task.resumed' && event.seq > first.seq)
  if (resumed) yield broken('G7', `${id} was resumed after its cancel`, [lineOf(first), lineOf(resumed)])
}

/** Attempts are counted up, each with an epoch of its own, and no epoch writes once a newer one has begun. */
function* checkAttempts(id: string, events: readonly Event[]): Generator<Violation> {
  let begun: Event | undefined
  let attempt = 0
  for (const event of events) {
    const epoch = begun?.epoch ?? 0
    if (event.type === 'task.started' || event.type === 'task.resumed') {
      const witness = [begun && lineOf(begun), lineOf(event)]
      if (event.data.attempt !== attempt + 1)
        yield broken('G11', `${id}: attempt ${event.data.attempt} follows ${attempt}`, witness)
      if ((event.epoch ?? 0) <= epoch) yield broken('G6', `${id}: two attempts have the epoch ${event.epoch}`, witness)
      attempt = event.data.attempt
      begun = event
    } else if (event.epoch !== undefined && event.epoch < epoch) {
      yield broken('G6', `${id}: an old epoch wrote ${event.seq}`, [begun && lineOf(begun), lineOf(event)])
    }
  }
}

function* checkRecord(id: string, events: readonly Event[], task: Task | undefined): Generator<Violation> {
  if (!task) return yield broken('G1', `${id} is in the log and has no record`, events.slice(0, 2).map(lineOf))
  const ending = endingOf(events)
  if (!ending) return
  const witness = [lineOf(ending), { status: task.status, seq: task.seq, error: task.error }]
  if (`task.${task.status}` !== ending.type)
    yield broken('G5', `${id} is ${task.status} where its log says ${ending.type}`, witness)
  else if (task.seq !== ending.seq)
    yield broken('G5', `${id} has the number ${task.seq}, its ending ${ending.seq}`, witness)
  if (ending.type === 'task.completed' && !isDeepStrictEqual(ending.data.result, task.result)) {
    yield broken('G5', `${id} has another result than its log says`, witness)
  }
  const error = ending.type === 'task.failed' || ending.type === 'task.cancelled' ? ending.data.error : undefined
  if (!isDeepStrictEqual(error, task.error)) yield broken('G5', `${id} has another error than its log says`, witness)
}

/** The conversation is what the log says, and holds what was asked of each run once. */
function* checkMessages(thread: ThreadHistory, live: ReadonlySet<string>): Generator<Violation> {
  const created = logOf(thread, 'message.created').map((event) => event.data.message)
  const ids = created.map((message) => message.id)
  // Messages outlive the events that are pruned; those of the events that are left come last.
  const messages = thread.first === 1 ? thread.messages : thread.messages.slice(-created.length || Infinity)
  if (!isDeepStrictEqual(created, messages)) {
    const place = created.findIndex((message, index) => !isDeepStrictEqual(message, messages[index]))
    const witness = [created[place], messages[place === -1 ? created.length : place]]
    yield broken('G8', `${thread.thread}: its messages are not those of its log`, witness)
  }
  if (new Set(ids).size !== ids.length) yield broken('G8', `${thread.thread}: a message came twice`)
  const asking = Map.groupBy(ids, (id) => id)
  for (const { data, task } of logOf(thread, 'task.accepted')) {
    if (data.task.type !== 'run' || live.has(data.task.id)) continue
    const asked = (asking.get(`${task}.user`)?.length ?? 0) + (asking.get(`${task}.system`)?.length ?? 0)
    if (asked !== 1) yield broken('G7', `${task}: what was asked of it is in the conversation ${asked} times`)
  }
}

/** Messages outlive the events that told of them: each is there once, and with them what was asked of every run that has ended. */
function* checkConversation(found: Case, { thread, messages }: ThreadHistory): Generator<Violation> {
  const counts = new Map<string, number>()
  for (const { id } of messages) counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const [id, count] of counts) {
    if (count > 1) yield broken('G8', `${thread}: the message ${id} is there ${count} times`)
  }
  for (const { id, type, completedAt } of tasksIn(found, thread)) {
    if (type !== 'run' || completedAt === undefined) continue
    const asked = (counts.get(`${id}.user`) ?? 0) + (counts.get(`${id}.system`) ?? 0)
    if (asked !== 1) yield broken('G8', `${thread}: what was asked of ${id} is there ${asked} times`)
  }
}
