import { byTask, type Case, entriesOf, logOf, ofType } from '../history/case.ts'
import { digestOf } from '../history/entry.ts'
import { isForgotten, isGone, mayBeDeleted } from './check-forgotten.ts'
import { broken, lifeOf, type Violation } from './violation.ts'

/** Whether all that was acknowledged is still true. */
export function* checkAcknowledged(found: Case): Generator<Violation> {
  for (const { what } of entriesOf(found, 'broken')) yield broken('G3', what)
  yield* checkRefusals(found)
  yield* checkAccepted(found)
  yield* checkKeys(found)
  yield* checkCancels(found)
  yield* checkReads(found)
  yield* checkAnswers(found)
}

// Who comes too late, or to a node that drains or has lost its store, is told so. Nothing else is refused to the load.
const refusals = ['busy', 'limit_reached', 'task_terminated', 'already_answered', 'draining', 'store_unavailable']

function* checkRefusals(found: Case): Generator<Violation> {
  const deleted = new Set<string>()
  for (const entry of found.entries) {
    if (entry.kind === 'deleting') deleted.add(entry.thread)
    // `checkForgotten` looks at whoever came too late for what was deleted or pruned.
    if (entry.kind !== 'refused' || entry.code === 'offset_gone' || refusals.includes(entry.code)) continue
    const { op, by, code, thread = '', task = '' } = entry
    if (code !== 'not_found' || !deleted.has(thread)) {
      yield broken('G14', `${op} of ${by} was refused as ${code}`, [entry])
    } else if (found.tasks.has(task)) {
      yield broken('G2', `${task} was refused as ${code}, and is there`, [entry, ...lifeOf(found, task)])
    }
  }
}

function* checkAccepted(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'accepted')) {
    const home = found.homes.get(entry.task)
    if (isGone(found, entry)) continue
    if (home === undefined) yield broken('G1', `${entry.task} was accepted and is lost`, [entry])
    else if (home !== entry.thread)
      yield broken('G15', `${entry.task} was accepted into ${entry.thread} and is in ${home}`, [entry])
  }
  for (const entry of entriesOf(found, 'ended')) {
    const record = found.tasks.get(entry.task)
    if (record && digestOf(record) === entry.digest) continue
    if (!record && mayBeDeleted(found, entry.thread ?? '', entry.deletes)) continue
    yield broken('G2', `${entry.task} was read as ${entry.status} and is now ${record?.status ?? 'gone'}, or other`, [
      entry,
      record,
    ])
  }
}

/** A key gives one task, however often it is sent, to whichever node, and whoever dies in between. */
function* checkKeys(found: Case): Generator<Violation> {
  const keyed = Map.groupBy(found.tasks.values(), (task) => (task.metadata as { key?: string } | undefined)?.key ?? '')
  for (const [key, tasks] of keyed) {
    if (key === '' || tasks.length < 2) continue
    const ids = tasks.map(({ id }) => id)
    yield broken(
      'G1',
      `the key ${key} made ${ids.join(' and ')}`,
      ids.flatMap((id) => lifeOf(found, id).slice(0, 1)),
    )
  }
  for (const entry of entriesOf(found, 'accepted')) {
    // The keys of a thread go with it.
    if (entry.key === undefined || found.deleted.has(entry.thread)) continue
    const made = keyed.get(entry.key)?.[0]?.id
    if (made !== entry.task)
      yield broken('G1', `the key ${entry.key} was answered with ${entry.task} and made ${made}`, [entry])
    if (entry.repeat?.isTold === false)
      yield broken('G1', `the key ${entry.key} was acknowledged, and accepted anew`, [entry])
  }
}

/** What a cancel named ends cancelled; what was not started by then never is; and it names its target unless that had ended. */
function* checkCancels(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'cancelled')) {
    const isGoneBy = (task: string) => found.deleted.has(entry.thread) && !found.tasks.has(task)
    for (const task of entry.tasks) if (!isGoneBy(task)) yield* checkTaken(found, task, entry)
    const { task, left } = entry
    if (left === 'pending' || left === 'running') {
      yield broken('G7', `${task} was ${left} after its cancel, which took nothing`, [
        entry,
        ...lifeOf(found, task ?? ''),
      ])
    }
  }
  for (const entry of entriesOf(found, 'accepted')) {
    for (const task of entry.interrupted ?? []) yield* checkTaken(found, task, entry)
  }
}

function* checkTaken(found: Case, id: string, entry: object): Generator<Violation> {
  const task = found.tasks.get(id)
  const life = lifeOf(found, id)
  if (task?.status !== 'cancelled') {
    yield broken('G7', `${id} was cancelled and is ${task?.status ?? 'gone'}`, [entry, ...life])
    return
  }
  if (!task.error?.message.includes('cancelled'))
    yield broken('G7', `${id} does not say that it was cancelled`, [entry, task.error])
}

/** What was read is still there, unchanged. */
function* checkReads(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'read')) {
    const now = found.threads.get(entry.thread)
    const messages = new Map(now?.messages.map((message) => [message.id, message]))
    if (entry.head > (now?.head ?? 0))
      yield broken('G2', `${entry.thread}: its head was ${entry.head} and is ${now?.head}`, [entry])
    for (const [id, digest] of entry.messages) {
      const message = messages.get(id)
      if (!message && mayBeDeleted(found, entry.thread, entry.deletes)) continue
      if (message && digestOf(message) === digest) continue
      yield broken('G2', `${entry.thread}: the message ${id} was read and is ${message ? 'another' : 'gone'}`, [
        entry,
        message,
      ])
    }
  }
}

/** A question is asked once, comes to one end, and its acknowledged answer is the one that counts. */
function* checkAnswers(found: Case): Generator<Violation> {
  for (const entry of entriesOf(found, 'settled')) {
    const thread = found.threads.get(entry.thread)
    const answers = logOf(thread, 'question.answered').filter(({ data }) => data.id === entry.question)
    const isAsked = logOf(thread, 'question.asked').some(({ data }) => data.question.id === entry.question)
    if (answers.length === 0 && !isAsked && isForgotten(found, entry.thread, entry.task)) continue
    const isThere = answers.length === 1 && answers.every(({ data }) => digestOf(data.answer) === entry.digest)
    if (!isThere)
      yield broken('G12', `the answer to ${entry.question} is lost, doubled or changed`, [entry, ...answers])
  }
  for (const thread of found.threads.values()) {
    for (const [task, events] of byTask(thread)) {
      const asked = ofType(events, 'question.asked')
      const texts = asked.map(({ data }) => data.question.text)
      if (new Set(texts).size !== texts.length) yield broken('G11', `${task} asked twice: ${texts.join(', ')}`, asked)
      for (const { data } of asked) {
        const ends = events.filter(
          (event) =>
            (event.type === 'question.answered' || event.type === 'question.closed') &&
            event.data.id === data.question.id,
        )
        if (ends.length > 1) yield broken('G12', `the question ${data.question.id} has ${ends.length} ends`, ends)
      }
    }
  }
}
