import type { InboxItem, Task } from '../../src/index.ts'
import { byTask, type Case, entriesOf, ofType } from './history.ts'
import { digestOf } from './journal.ts'
import { assignmentIn, programOf } from './program.ts'

/** Whether all that was acknowledged is still true. Yields what is not. */
export function* checkAcknowledged(found: Case): Generator<string> {
  for (const { what } of entriesOf(found, 'broken')) yield what
  yield* checkRefusals(found)
  yield* checkAccepted(found)
  yield* checkKeys(found)
  yield* checkSteering(found)
  yield* checkIntents(found)
  yield* checkSeen(found)
  yield* checkResults(found)
}

/** A request of the load can be refused for these reasons, and for no other. */
const refusals: readonly string[] = ['busy', 'limit_reached', 'name_taken', 'draining', 'store_unavailable']

function* checkRefusals(found: Case): Generator<string> {
  for (const { call, code } of entriesOf(found, 'refused')) {
    if (!refusals.includes(code)) yield `${call} was refused as ${code}`
  }
}

function* checkAccepted(found: Case): Generator<string> {
  for (const { task, thread } of entriesOf(found, 'accepted')) {
    const record = found.tasks.get(task)
    if (!record) yield `${task} was accepted and is lost`
    else if (record.thread !== thread) yield `${task} was accepted into ${thread} and is in ${record.thread}`
  }
  for (const { task, status, digest } of entriesOf(found, 'ended')) {
    const record = found.tasks.get(task)
    if (!record || digestOf(record) !== digest)
      yield `${task} was read as ${status} and is now ${record?.status}, or other`
  }
}

/** A key gives one task, however often it is sent and whoever dies in between. */
function* checkKeys(found: Case): Generator<string> {
  const keyed = Map.groupBy(found.tasks.values(), (task) => (task.metadata as { key?: string } | undefined)?.key ?? '')
  for (const [key, tasks] of keyed) {
    if (key !== '' && tasks.length > 1) yield `the key ${key} made ${tasks.map((task) => task.id).join(' and ')}`
  }
  for (const { task, key } of entriesOf(found, 'accepted')) {
    if (key === undefined) continue
    const made = keyed.get(key)?.[0]?.id
    if (made !== task) yield `the key ${key} was answered with ${task} and made ${made}`
  }
}

/** A steering prompt is in the log, and became a message or a run, never both and never nothing. */
function* checkSteering(found: Case): Generator<string> {
  for (const { task, thread, steered } of entriesOf(found, 'accepted')) {
    if (steered === undefined) continue
    const log = found.threads.get(thread)?.log ?? []
    const sent = ofType(log, 'inbox.accepted').filter(({ data }) => data.id === steered)
    if (sent.length !== 1) yield `${steered} steered ${task} and is in the log ${sent.length} times`
    const read = ofType(log, 'message.created').filter(({ data }) => data.message.id === steered)
    const grown = ofType(log, 'task.accepted').filter(({ data }) => data.steered === steered)
    if (read.length + grown.length !== 1) {
      yield `${steered} steered ${task}, was read ${read.length} times and became ${grown.length} runs`
    }
  }
}

/** A message that was accepted is in its log once; what was cancelled ended as cancelled. */
function* checkIntents(found: Case): Generator<string> {
  for (const { task, id, token } of entriesOf(found, 'sent')) {
    const log = found.threads.get(found.tasks.get(task)?.thread ?? '')?.log ?? []
    const accepted = ofType(log, 'inbox.accepted').filter(({ data }) => data.id === id)
    const isWhole = accepted.every((event) => event.task === task && digestOf(event.data.content) === token)
    if (accepted.length !== 1 || !isWhole) yield `the message ${id} to ${task} is lost, doubled or changed`
  }
  const cancelled = entriesOf(found, 'cancelled').flatMap((entry) => entry.tasks)
  const interrupted = entriesOf(found, 'accepted').flatMap((entry) => entry.interrupted ?? [])
  for (const task of [...cancelled, ...interrupted]) {
    const status = found.tasks.get(task)?.status
    if (status !== 'cancelled') yield `${task} was cancelled and is ${status}`
  }
}

/** What a reader was given is still there, unchanged, at the same number. */
function* checkSeen(found: Case): Generator<string> {
  const digests = new Map([...found.threads].map(([thread, { log }]) => [thread, log.map(digestOf)]))
  for (const { thread, seq, digest } of entriesOf(found, 'saw')) {
    if (digests.get(thread)?.[seq - 1] !== digest) yield `${thread}: a subscriber saw another event at ${seq}`
  }
  const tasks = new Map([...found.threads].map(([thread, history]) => [thread, byTask(history)]))
  for (const { thread, task, after, seqs } of entriesOf(found, 'watched')) {
    const own =
      tasks
        .get(thread)
        ?.get(task)
        ?.map((event) => event.seq) ?? []
    if (own.filter((seq) => seq > after).join() !== seqs.join()) yield `${task}: a subscriber saw ${seqs.join()}`
  }
  for (const { thread, head, messages } of entriesOf(found, 'read')) {
    const now = found.threads.get(thread)
    if (head > (now?.head ?? 0)) yield `${thread}: its head was ${head} and is ${now?.head}`
    for (const [id, digest] of messages) {
      const message = now?.messages.find((candidate) => candidate.id === id)
      if (!message || digestOf(message) !== digest) yield `${thread}: the message ${id} was read and is lost or changed`
    }
  }
}

/** A result is taken at most once, and waits until it is. */
function* checkResults(found: Case): Generator<string> {
  const metadata = [...found.tasks.values()].map((task) => task.metadata as { wakes?: string[] } | undefined)
  const wakes = metadata.flatMap((given) => given?.wakes ?? [])
  const collected = entriesOf(found, 'collected').flatMap((entry) => entry.tasks)
  const read = new Set(entriesOf(found, 'answered').flatMap((entry) => endRead(entry.step, entry.value, found)))
  const taken = Map.groupBy([...wakes, ...collected], (task) => task)
  for (const [task, takers] of taken) if (takers.length > 1) yield `the result of ${task} was taken twice`
  const untaken = new Set([...found.threads.values()].flatMap((thread) => thread.untaken))
  for (const task of [...taken.keys(), ...read]) {
    if (untaken.has(task)) yield `the result of ${task} was taken and is still there`
  }
  // Who was killed before its answer may have taken what it asked for.
  const asked = new Set(entriesOf(found, 'collecting').flatMap((entry) => entry.tasks))
  for (const task of found.tasks.values()) {
    if (task.type === 'run' || untaken.has(task.id) || taken.has(task.id) || read.has(task.id)) continue
    if (!asked.has(task.id) && !mayHaveRead(task, found)) yield `the result of ${task.id} is gone, and nobody took it`
  }
}

/** The child of whose end a step of its parent told. */
function endRead(step: string, value: string, { tasks }: Case): string[] {
  if (step.startsWith('receive') && value !== 'null') {
    const item = JSON.parse(value) as InboxItem
    return item.kind === 'custom' ? [] : [item.taskId]
  }
  if (!step.startsWith('wait ')) return []
  // Who waits for a task of another thread is told of its end, and takes nothing.
  const { task } = JSON.parse(value) as { task: string }
  return tasks.get(task)?.parent === undefined ? [] : [task]
}

/** Whether the program of a task's parent reads ends, so that it may have read this one and never said so. */
function mayHaveRead(child: Task, { tasks }: Case): boolean {
  const parent = tasks.get(child.parent?.task ?? '')
  const program = parent && assignmentIn(parent.input)
  if (!program || child.agent === undefined) return false
  const reads = programOf(program).ops.some((op) => op.op === 'receive' && op.only === 'all')
  return reads || assignmentIn(child.input)?.awaited === true
}
