import type { Event } from '../../src/index.ts'
import { byTask, type Case, entriesOf, isEnding, ofType } from './history.ts'
import { digestOf } from './journal.ts'

/**
 * Whether questions were asked once, came to one end, and were answered as was acknowledged. A text is asked once by a task
 * of the load. Yields what is wrong.
 */
export function* checkQuestions(found: Case): Generator<string> {
  for (const thread of found.threads.values()) {
    for (const [task, events] of byTask(thread)) yield* checkAsked(task, events)
  }
  for (const { thread, question, answer } of entriesOf(found, 'settled')) {
    const log = found.threads.get(thread)?.log ?? []
    const answers = ofType(log, 'question.answered').filter(({ data }) => data.id === question)
    const isThere = answers.length === 1 && answers.every(({ data }) => digestOf(data.answer) === answer)
    if (!isThere) yield `the answer to ${question} was acknowledged, and is lost, doubled or changed`
  }
  yield* checkHeard(found)
}

function* checkAsked(task: string, events: readonly Event[]): Generator<string> {
  const asked = ofType(events, 'question.asked')
  const texts = asked.map(({ data }) => data.question.text)
  if (new Set(texts).size !== texts.length) yield `${task} asked twice: ${texts.join(', ')}`
  for (const { data, seq } of asked) {
    const { id } = data.question
    const ends = events.filter(
      (event) => (event.type === 'question.answered' || event.type === 'question.closed') && event.data.id === id,
    )
    if (ends.length !== 1) yield `${task}: the question ${id} has ${ends.length} ends`
    if ((ends[0]?.seq ?? seq) < seq) yield `${task}: the question ${id} ended before it was asked`
    if (ends.some((end) => end.seq > (events.find(isEnding)?.seq ?? end.seq))) yield `${task} ended before ${id}`
  }
}

/** What a task was told is what the log says, in every attempt. */
function* checkHeard(found: Case): Generator<string> {
  const answers = new Map<string, unknown>()
  for (const { log } of found.threads.values()) {
    const texts = new Map(ofType(log, 'question.asked').map(({ data }) => [data.question.id, data.question.text]))
    for (const { task, data } of ofType(log, 'question.answered')) {
      answers.set(`${task} ${texts.get(data.id)}`, { answer: data.answer, by: data.by })
    }
  }
  for (const { task, step, value } of entriesOf(found, 'answered')) {
    if (!step.startsWith('ask')) continue
    const given = JSON.stringify(answers.get(`${task} ${step}`) ?? null)
    if (value !== given) yield `${task} was told ${value} for ${step}, and the log says ${given}`
  }
}
