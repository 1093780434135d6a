import { isDeepStrictEqual } from 'node:util'
import type { Event, Task } from '../../src/index.ts'
import { byTask, type Case, type History, isEnding, ofType, type ThreadHistory } from './history.ts'

/** Whether the logs hold together in themselves, and the records are what the logs say. Yields what is wrong. */
export function* checkLogs(history: Case): Generator<string> {
  const seen = new Set<string>()
  for (const thread of history.threads.values()) {
    yield* checkNumbers(thread)
    yield* checkQueue(thread)
    yield* checkNames(thread)
    yield* checkTrees(thread, history)
    yield* checkMessages(thread)
    for (const [id, events] of byTask(thread)) {
      if (seen.has(id)) yield `${id} is in two logs`
      seen.add(id)
      yield* checkLife(id, events)
      yield* checkRecord(id, events, history.tasks.get(id))
    }
  }
  for (const id of history.tasks.keys()) if (!seen.has(id)) yield `${id} is in no log`
}

function* checkNumbers({ thread, head, log }: ThreadHistory): Generator<string> {
  if (log.length !== head) yield `${thread}: ${log.length} events where the head is ${head}`
  for (const [index, event] of log.entries()) {
    if (event.seq !== index + 1) return yield `${thread}: ${event.seq} stands where ${index + 1} belongs`
    if (event.at < (log[index - 1]?.at ?? 0)) yield `${thread}: time goes back at ${event.seq}`
  }
}

/** Accepted once, started at most once, ended once, and nothing after that. */
function* checkLife(id: string, events: readonly Event[]): Generator<string> {
  const types = events.map((event) => event.type)
  const endings = events.filter(isEnding)
  const last = events.at(-1)
  if (types.filter((type) => type === 'task.accepted').length !== 1) yield `${id} was not accepted once`
  if (types[0] !== 'task.accepted') yield `${id} begins with ${types[0]}`
  if (endings.length !== 1) yield `${id} has ${endings.length} endings`
  if (last && !isEnding(last)) yield `${id}: ${last.type} at ${last.seq} is after its ending, or it has none`
  const started = types.indexOf('task.started')
  if (types.lastIndexOf('task.started') !== started) yield `${id} was started twice`
  const firstEpoch = events.findIndex((event) => event.epoch !== undefined)
  if (firstEpoch !== -1 && firstEpoch !== started) yield `${id} wrote before it was started`
  if (types.filter((type) => type === 'task.cancelling').length > 1) yield `${id} was told twice of its cancel`
  if (types.includes('task.cancelling') && last?.type !== 'task.cancelled')
    yield `${id} ended as ${last?.type} although cancelled`
  yield* checkAttempts(id, events)
}

function* checkAttempts(id: string, events: readonly Event[]): Generator<string> {
  let epoch = 0
  let attempt = 0
  for (const event of events) {
    if (event.type === 'task.started' || event.type === 'task.resumed') {
      if (event.data.attempt !== attempt + 1) yield `${id}: attempt ${event.data.attempt} follows ${attempt}`
      attempt = event.data.attempt
      if ((event.epoch ?? 0) <= epoch) yield `${id}: attempt ${attempt} has the epoch ${event.epoch} of an earlier one`
    }
    if (event.epoch !== undefined && event.epoch < epoch) yield `${id}: an old epoch wrote ${event.seq}`
    epoch = event.epoch ?? epoch
  }
}

function* checkRecord(id: string, events: readonly Event[], task: Task | undefined): Generator<string> {
  if (!task) return yield `${id} is in the log and has no record`
  const last = events.at(-1)
  if (!last || !isEnding(last)) return
  if (`task.${task.status}` !== last.type) yield `${id} is ${task.status} where its log says ${last.type}`
  if (task.seq !== last.seq) yield `${id} has the number ${task.seq} where its last event has ${last.seq}`
  if (last.type === 'task.completed' && !isDeepStrictEqual(last.data.result, task.result)) {
    yield `${id} has another result than its log says`
  }
  const error = last.type === 'task.failed' || last.type === 'task.cancelled' ? last.data.error : undefined
  if (!isDeepStrictEqual(error, task.error)) yield `${id} has another error than its log says`
  if (last.type === 'task.cancelled' && !error?.message.includes('cancelled')) yield `${id} does not say "cancelled"`
}

/** One run at a time, and each in its turn: a run that grew from a message has the message's place. */
function* checkQueue({ thread, log }: ThreadHistory): Generator<string> {
  const places = new Map(ofType(log, 'inbox.accepted').map((event) => [event.data.id, event.seq]))
  const waiting = new Map<string, number>()
  let active: string | undefined
  for (const event of log) {
    const { task } = event
    if (task === undefined) continue
    if (event.type === 'task.accepted' && event.data.task.type === 'run') {
      waiting.set(task, places.get(event.data.steered ?? '') ?? event.seq)
    }
    if (event.type === 'task.started' && waiting.has(task)) {
      if (active !== undefined) yield `${thread}: ${task} was started while ${active} ran`
      const before = [...waiting].filter(([, place]) => place < (waiting.get(task) ?? 0)).map(([id]) => id)
      if (before.length > 0) yield `${thread}: ${task} was started before ${before.join(', ')}`
      active = task
    }
    if (isEnding(event) && active === task) active = undefined
    if (isEnding(event) || event.type === 'task.started') waiting.delete(task)
  }
}

/** A name belongs to one live task at a time. */
function* checkNames({ thread, log }: ThreadHistory): Generator<string> {
  const holders = new Map<string, string>()
  for (const event of log) {
    if (event.type === 'task.accepted' && event.data.task.name !== undefined) {
      const { name, id } = event.data.task
      const holder = holders.get(name)
      if (holder !== undefined) yield `${thread}: ${id} got the name ${name} of ${holder}`
      holders.set(name, id)
    }
    if (!isEnding(event)) continue
    for (const [name, holder] of holders) if (holder === event.task) holders.delete(name)
  }
}

/** No child comes after its parent's end or cancel, and an attached one that outlives it is cancelled. */
function* checkTrees(thread: ThreadHistory, { tasks }: History): Generator<string> {
  const events = byTask(thread)
  for (const [id, own] of events) {
    const child = tasks.get(id)
    const parent = child?.parent?.task
    if (!child || parent === undefined) continue
    const stop = events.get(parent)?.find((event) => isEnding(event) || event.type === 'task.cancelling')
    const end = events.get(parent)?.find(isEnding)
    if (!stop || !end) yield `${id} has the parent ${parent}, which has no end in ${thread.thread}`
    if ((own[0]?.seq ?? 0) > (stop?.seq ?? 0)) yield `${id} was accepted after its parent ${parent} was stopped`
    const outlives = (own.at(-1)?.seq ?? 0) > (end?.seq ?? 0)
    if (!child.detached && outlives && child.status !== 'cancelled') {
      yield `${id} outlived its parent ${parent} and is ${child.status}`
    }
  }
}

/** The conversation is what the log says, and holds what was asked of each run and what came of it. */
function* checkMessages(thread: ThreadHistory): Generator<string> {
  const created = ofType(thread.log, 'message.created').map((event) => event.data.message)
  if (!isDeepStrictEqual(created, thread.messages)) yield `${thread.thread}: its messages are not those of its log`
  const ids = new Set(created.map((message) => message.id))
  if (ids.size !== created.length) yield `${thread.thread}: a message came twice`
  for (const { data, task } of ofType(thread.log, 'task.accepted')) {
    if (data.task.type !== 'run') continue
    const asked = created.filter(({ id }) => id === `${task}.user` || id === `${task}.system`)
    if (asked.length !== 1) yield `${task}: what was asked of it is in the conversation ${asked.length} times`
  }
}
