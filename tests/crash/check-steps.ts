import type { Event, InboxItem } from '../../src/index.ts'
import { byTask, type Case, entriesOf, isEnding, ofType, standingEvents } from './history.ts'
import { digestOf } from './journal.ts'
import type { Effect } from './ledger.ts'

/** Whether steps were executed as often as they may be, and answered the same ever after. Yields what is wrong. */
export function* checkSteps(found: Case): Generator<string> {
  const effects = Map.groupBy(found.effects, ({ task, step }) => `${task} ${step}`)
  for (const executions of effects.values()) yield* checkExecutions(executions, found)
  yield* checkAnswers(found, effects)
  yield* checkReading(found)
  for (const thread of found.threads.values()) {
    for (const [task, events] of byTask(thread)) yield* checkTold(task, events, effects)
  }
}

/** An attempt executes a step once; and nothing is executed for a task that nobody knows. */
function* checkExecutions(executions: readonly Effect[], { tasks }: Case): Generator<string> {
  const [{ task, step } = { task: '', step: '' }] = executions
  if (!tasks.has(task)) yield `${task} is not in the store, and yet its step ${step} was executed`
  const attempts = executions.map((effect) => effect.attempt)
  if (new Set(attempts).size !== attempts.length) yield `${task} executed ${step} twice in one attempt`
  if (attempts.some((attempt, index) => attempt < (attempts[index - 1] ?? 0))) {
    yield `${task} executed ${step} for attempt ${attempts.join(', then ')}`
  }
}

/** Once a step was answered it is recorded: it is never executed again, and every later answer is the same. */
function* checkAnswers(found: Case, effects: ReadonlyMap<string, readonly Effect[]>): Generator<string> {
  const answers = Map.groupBy(entriesOf(found, 'answered'), ({ task, step }) => `${task} ${step}`)
  for (const [key, given] of answers) {
    const [first] = given
    if (!first) continue
    if (!found.tasks.has(first.task)) yield `${first.task} is lost: its step ${first.step} was answered`
    if (given.some(({ value }) => value !== first.value)) {
      yield `${key} was answered with ${[...new Set(given.map(({ value }) => value))].join(' and ')}`
    }
    const executed = effects.get(key)?.at(-1)
    if (executed && JSON.stringify(executed.nonce) !== first.value) {
      yield `${key} was recorded with ${first.value} and executed again as ${executed.nonce}`
    }
  }
}

/** Each step that counts is told of by one event that counts, with the nonce of its last execution. */
function* checkTold(
  task: string,
  events: readonly Event[],
  effects: ReadonlyMap<string, readonly Effect[]>,
): Generator<string> {
  const told = ofType(standingEvents(events), 'custom').flatMap(({ data }) =>
    data.name === 'step_executed' ? [data.payload as { step: string; nonce: string }] : [],
  )
  if (new Set(told.map(({ step }) => step)).size !== told.length) yield `${task} tells twice of a step`
  for (const { step, nonce } of told) {
    const executed = effects.get(`${task} ${step}`)
    if (!executed?.some((effect) => effect.nonce === nonce))
      yield `${task} tells of ${step} (${nonce}), which never was`
    if (executed?.at(-1)?.nonce !== nonce && events.some(isEnding))
      yield `${task} executed ${step} after it was recorded`
  }
}

/** Names what a `receive` gave: the content of a message, or the end of a child. */
function itemOf(value: string): string {
  const item = JSON.parse(value) as InboxItem
  if (item.kind !== 'custom') return `the end of ${item.taskId}`
  return digestOf((item.payload as { content: unknown }).content)
}

/** A message, and the end of a child, is read by one step, and messages in the order of acceptance. */
function* checkReading(found: Case): Generator<string> {
  const readers = new Map<string, string>()
  for (const { task, step, value } of entriesOf(found, 'answered')) {
    if (!step.startsWith('receive') || value === 'null') continue
    const token = itemOf(value)
    const reader = `${task} ${step}`
    if ((readers.get(token) ?? reader) !== reader) yield `${reader} read what ${readers.get(token)} had read`
    readers.set(token, reader)
  }
  for (const thread of found.threads.values()) {
    for (const [task, events] of byTask(thread)) {
      const accepted = ofType(events, 'inbox.accepted').map((event) => digestOf(event.data.content))
      const read = ofType(standingEvents(events), 'custom')
        .filter(({ data }) => data.name === 'received')
        .map(({ data }) => accepted.indexOf((data.payload as { token: string }).token))
      if (read.some((place, index) => place <= (read[index - 1] ?? -1)))
        yield `${task} read out of order: ${read.join()}`
    }
  }
}
