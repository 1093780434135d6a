import { isDeepStrictEqual } from 'node:util'
import type { Event } from '../../core/event.ts'
import type { Task } from '../../core/task.ts'
import { byTask, type Case, customOf, endingOf, entriesOf, isTrimmed, logOf, ofType } from '../history/case.ts'
import { digestOf } from '../history/entry.ts'
import { scriptIn } from '../load/script-program.ts'
import { isForgotten } from './check-forgotten.ts'
import { broken, lifeOf, type Violation } from './violation.ts'

/** Whether what was sent arrived once, and results were taken once. */
export function* checkMail(found: Case): Generator<Violation> {
  yield* checkSteering(found)
  yield* checkSent(found)
  for (const thread of found.threads.values()) {
    const grown = new Set(logOf(thread, 'task.accepted').flatMap(({ data }) => data.steered ?? []))
    for (const [id, events] of byTask(thread)) {
      if (!isTrimmed(thread, events)) yield* checkInbox(id, events, grown, found.tasks.get(id))
    }
  }
  yield* checkTaken(found)
}

/** A steering prompt is in the log, and became a message or a run, never both and never nothing. */
function* checkSteering(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'accepted')) {
    const { steered, task } = entry
    if (steered === undefined) continue
    const thread = found.threads.get(entry.thread)
    const sent = logOf(thread, 'inbox.accepted').filter(({ data }) => data.id === steered)
    if (sent.length === 0 && isForgotten(found, entry.thread, task)) continue
    if (sent.length !== 1)
      yield broken('G12', `${steered} steered ${task} and is in the log ${sent.length} times`, [entry, ...sent])
    const read = logOf(thread, 'message.created').filter(({ data }) => data.message.id === steered)
    const grown = logOf(thread, 'task.accepted').filter(({ data }) => data.steered === steered)
    // Whoever it steered has not ended.
    if (read.length + grown.length === 0 && found.tasks.get(task)?.completedAt === undefined) continue
    if (read.length + grown.length === 1) continue
    const what = `${steered} steered ${task}, was read ${read.length} times and became ${grown.length} runs`
    yield broken('G12', what, [entry, ...lifeOf(found, task)])
  }
}

function* checkSent(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'sent')) {
    const thread = found.threads.get(entry.thread)
    const accepted = logOf(thread, 'inbox.accepted').filter(({ data }) => data.id === entry.id)
    if (accepted.length === 0 && isForgotten(found, entry.thread, entry.task)) continue
    const isWhole = accepted.every(({ task, data }) => task === entry.task && digestOf(data.content) === entry.digest)
    if (accepted.length === 1 && isWhole) continue
    yield broken('G12', `the message ${entry.id} to ${entry.task} is lost, doubled or changed`, [entry, ...accepted])
  }
}

/**
 * A script reads its messages in their order, each once, and its end names the first that it never read. Steering that grew into a
 * run was taken out of the inbox: a cancel does so while the task that it was for may still read on.
 */
function* checkInbox(
  id: string,
  events: readonly Event[],
  grown: ReadonlySet<string>,
  task: Task | undefined,
): Generator<Violation> {
  const accepted = ofType(events, 'inbox.accepted').map(({ data }) => data)
  const mail = accepted.filter((message) => !grown.has(message.id))
  if (mail.length === 0 || !task || !scriptIn(task.input)) return
  const read = customOf(events, 'received') as { readonly content: unknown }[]
  const isPrefix = read.every(({ content }, index) => isDeepStrictEqual(content, mail[index]?.content))
  if (!isPrefix) yield broken('G12', `${id} did not read its messages once and in their order`, [{ mail, read }])
  const steered = new Set(events.flatMap((event) => (event.type === 'message.created' ? [event.data.message.id] : [])))
  const ending = endingOf(events)
  if (!ending || !isPrefix) return
  const left = mail.slice(read.length).filter((message) => !isSteering(message.content) && !steered.has(message.id))
  // A message that was read in the attempt that a cancel ended may have no event that tells of it.
  const named = task.unread ?? []
  const isNamed =
    left.length === 0 || named.includes(left[0]?.id ?? '') || left.slice(1).some(({ id: each }) => each === named[0])
  if (!isNamed && task.status === 'completed') {
    yield broken('G12', `${id} ended without ${left[0]?.id}, and nobody is told`, [{ left, named }])
  }
}

/** Prompts of the load are texts, its messages are not. */
function isSteering(content: unknown): boolean {
  return typeof content === 'string' || Array.isArray(content)
}

/** A result is taken at most once, and waits until it is. */
function* checkTaken(found: Case): Generator<Violation> {
  const metadata = [...found.tasks.values()].map((task) => task.metadata as { wakes?: string[] } | undefined)
  const wakes = metadata.flatMap((given) => given?.wakes ?? [])
  const collected = entriesOf(found, 'collected').flatMap((entry) => entry.tasks)
  const taken = Map.groupBy([...wakes, ...collected], (task) => task)
  const untaken = new Set([...found.threads.values()].flatMap((thread) => thread.untaken))
  // Who was not answered may have taken what it asked for.
  const asked = new Set(entriesOf(found, 'collecting').flatMap((entry) => entry.tasks))
  for (const [task, takers] of taken) {
    if (takers.length > 1) yield broken('G12', `the result of ${task} was taken twice`)
    if (untaken.has(task)) yield broken('G12', `the result of ${task} was taken and is still there`)
  }
  for (const task of found.tasks.values()) {
    if (task.type === 'run' || untaken.has(task.id) || taken.has(task.id) || asked.has(task.id)) continue
    if (task.completedAt === undefined || mayWait(found.tasks.get(task.parent?.task ?? ''))) continue
    yield broken('G12', `the result of ${task.id} is gone, and nobody took it`, lifeOf(found, task.id))
  }
}

/** Whether a task's script waits for a child, so that it may have taken the child's result. */
function mayWait(parent: Task | undefined): boolean {
  const script = scriptIn(parent?.input) ?? []
  return script.some((op) => (op['spawn'] as { wait?: boolean } | undefined)?.wait === true)
}
