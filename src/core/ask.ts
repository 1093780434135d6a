import type { Decision, Surroundings } from './decision.ts'
import { HoldfastError } from './errors.ts'
import { fitsIn } from './fits-in.ts'
import type { JsonText, TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { stampBytes } from './omission.ts'
import { isExpired, isOpen, type QuestionRecord, toQuestion } from './question.ts'
import type { StepRecord } from './step.ts'
import { certainEnd, type TaskRecord } from './task.ts'
import type { Fence } from './unit.ts'
import { UnitDraft } from './unit-draft.ts'

/** A question that a step asks, already checked for shape. */
export type AskedQuestion = Pick<QuestionRecord, 'id' | 'stepKey' | 'input' | 'text' | 'options' | 'default'> & {
  readonly timeoutMs?: number
  /** Whether another step of this attempt waits for a question: it is not found a second time by one that asks the same. */
  readonly isOthers?: (id: string) => boolean
}

/** What the step that asks comes to: an answer, or word that nobody gave one in time. */
export type AskEnd = { readonly answer: unknown; readonly by: string } | { readonly unanswered: true }

/** The question still waits, or this is what came of it, recorded as the step that asked. */
export type Asking = { readonly open: QuestionRecord } | { readonly end: AskEnd }

/**
 * Asks, once: a question that the step asked before is found, not asked again, and what came of it is recorded as the
 * step. One whose time is over is expired by whoever looks first. `now` is the store's clock.
 */
export function ask(
  live: LiveThread,
  around: Surroundings,
  asker: Fence,
  asked: AskedQuestion,
  now: number,
  step: (value: JsonText) => StepRecord,
): Decision<Asking | undefined> {
  const task = live.task(asker.task)
  if (!task || task.epoch !== asker.epoch) return { value: undefined }
  const found = questionOf(live, task.id, asked)
  if (task.cancelRequestedAt !== undefined) {
    const facts = { taskStatus: certainEnd(task) }
    throw new HoldfastError('task_terminated', `${task.id} is being cancelled, so it can ask nothing`, { facts })
  }
  if (!found) return put(live, around, task, asked, now)
  if (isOpen(found) && !isExpired(found, now)) return { value: { open: found } }
  const draft = new UnitDraft(live, around, 'step', asker)
  const settled = isOpen(found) ? expireInto(draft, task, found, now) : found
  draft.question({ ...settled, taken: true })
  const end = endOf(settled)
  draft.step(step(JSON.stringify(end)))
  return { unit: draft.build(), value: { end } }
}

/**
 * The question of a step. Steps of one key that were open at a crash may come back in another order, so what was asked
 * tells them apart; alone, it is the one of its key, whatever its text has become.
 */
function questionOf(live: LiveThread, task: TaskId, asked: AskedQuestion): QuestionRecord | undefined {
  const { stepKey, input, isOthers = () => false } = asked
  const questions = live.questionsOf(task).filter(({ id }) => !isOthers(id))
  const same = questions.find((question) => question.stepKey === stepKey)
  if (input === undefined || same?.input === input) return same
  const alike = questions.filter((question) => baseOf(question.stepKey) === baseOf(stepKey))
  return alike.find((question) => question.input === input) ?? (alike.length === 1 ? same : undefined)
}

function put(
  live: LiveThread,
  around: Surroundings,
  task: TaskRecord,
  asked: AskedQuestion,
  now: number,
): Decision<Asking> {
  const { openQuestionsPerTask } = around.limits
  if (live.questionsOf(task.id).filter(isOpen).length >= openQuestionsPerTask) {
    throw new HoldfastError(
      'limit_reached',
      `${task.id} has ${openQuestionsPerTask} open questions, the most a task may have (openQuestionsPerTask); wait for an answer`,
    )
  }
  const { timeoutMs, isOthers: _isOthers, ...given } = asked
  const isTaken = live.questionsOf(task.id).some(({ stepKey }) => stepKey === asked.stepKey)
  const question: QuestionRecord = {
    ...given,
    // Another question came back under this key: its own id sets this one apart.
    ...(isTaken && { stepKey: `${baseOf(asked.stepKey)}#${asked.id}` }),
    key: live.key,
    task: task.id,
    askedAt: 0,
    ...(timeoutMs !== undefined && { expiresAt: now + timeoutMs }),
    taken: false,
  }
  const draft = new UnitDraft(live, around, 'ask', { task: task.id, epoch: task.epoch })
  draft.addQuestion(question)
  // Its instant is that of its event, put back by whoever reads it.
  const { askedAt: _askedAt, ...shown } = toQuestion(question)
  const data = { question: shown as ReturnType<typeof toQuestion> }
  checkSize('A question', data, around.limits.eventBytes, stampBytes)
  draft.event('question.asked', data, task)
  if (task.timeoutMs !== undefined && task.waitingSince === undefined) draft.put({ ...task, waitingSince: now })
  return { unit: draft.build(), value: { open: question } }
}

/** A path without what tells steps of one key apart. */
function baseOf(stepKey: string): string {
  return stepKey.replace(/#[^#/]*$/, '')
}

/** An answer on its way, and who gives it. */
interface GivenAnswer {
  readonly answer: JsonText
  readonly by: string
}

/**
 * Answers an open question of a live task. Answers undefined if there is none: it was answered before, or closed, or its
 * task has ended or is being cancelled, or its time is over, which is written down then.
 */
export function answer(
  live: LiveThread,
  around: Surroundings,
  question: Pick<QuestionRecord, 'id' | 'task'>,
  given: GivenAnswer,
  now: number,
): Decision<QuestionRecord | undefined> {
  const open = openQuestion(live, question)
  if (!open) return { value: undefined }
  const [record, task] = open
  const draft = new UnitDraft(live, around, 'answer')
  if (isExpired(record, now)) {
    expireInto(draft, task, record, now)
    return { unit: draft.build(), value: undefined }
  }
  checkOption(record, given.answer)
  return { value: answerInto(draft, task, record, given, now), unit: draft.build() }
}

/** Expires a question whose time is over, unless it was answered or closed before. Says whether it did. */
export function expire(
  live: LiveThread,
  around: Surroundings,
  question: Pick<QuestionRecord, 'id' | 'task'>,
  now: number,
): Decision<boolean> {
  const open = openQuestion(live, question)
  if (!open || !isExpired(open[0], now)) return { value: false }
  const draft = new UnitDraft(live, around, 'answer')
  expireInto(draft, open[1], open[0], now)
  return { unit: draft.build(), value: true }
}

/** Closes what an ending task still asks: nobody will hear the answer. */
export function closeQuestions(draft: UnitDraft, task: TaskRecord): void {
  for (const question of draft.live.questionsOf(task.id)) {
    if (!isOpen(question)) continue
    draft.question({ ...question, closed: 'ended' })
    draft.event('question.closed', { id: question.id, reason: 'ended' }, task)
  }
}

/** A question that can be answered, with its task. One whose task is being cancelled is closed by the end of that. */
function openQuestion(
  live: LiveThread,
  { id, task: asker }: Pick<QuestionRecord, 'id' | 'task'>,
): readonly [QuestionRecord, TaskRecord] | undefined {
  const question = live.questionsOf(asker).find((each) => each.id === id)
  const task = live.task(asker)
  if (!question || !task || !isOpen(question) || task.cancelRequestedAt !== undefined) return undefined
  return [question, task]
}

function expireInto(draft: UnitDraft, task: TaskRecord, question: QuestionRecord, now: number): QuestionRecord {
  const { id, default: fallback } = question
  if (fallback !== undefined) return answerInto(draft, task, question, { answer: fallback, by: 'timeout' }, now)
  const closed: QuestionRecord = { ...question, closed: 'timeout' }
  draft.question(closed)
  draft.event('question.closed', { id, reason: 'timeout' }, unfenced(task))
  goOn(draft, task, question, now)
  return closed
}

function answerInto(
  draft: UnitDraft,
  task: TaskRecord,
  question: QuestionRecord,
  { answer: text, by }: GivenAnswer,
  now: number,
): QuestionRecord {
  const answered: QuestionRecord = { ...question, answer: text, by, answeredAt: 0 }
  draft.question(answered, 'answeredAt')
  const data = { id: question.id, answer: JSON.parse(text) as unknown, by }
  checkSize('An answer', data, draft.around.limits.eventBytes)
  draft.event('question.answered', data, unfenced(task))
  goOn(draft, task, question, now)
  return answered
}

/** The time of a task goes on once none of its questions waits. */
function goOn(draft: UnitDraft, task: TaskRecord, settled: QuestionRecord, now: number): void {
  const { waitingSince, waitedMs = 0, ...rest } = task
  const others = draft.live.questionsOf(task.id).filter((question) => question.id !== settled.id && isOpen(question))
  if (waitingSince === undefined || others.length > 0) return
  draft.put({ ...rest, waitedMs: waitedMs + Math.max(0, now - waitingSince) })
}

function endOf({ answer: text, by }: QuestionRecord): AskEnd {
  if (text === undefined || by === undefined) return { unanswered: true }
  return { answer: JSON.parse(text) as unknown, by }
}

function checkOption({ options }: QuestionRecord, text: JsonText): void {
  if (!options || options.includes(JSON.parse(text) as string)) return
  const message = `${beginning(text)} is none of the options: ${beginning(options.join(', '))}`
  throw new HoldfastError('invalid_input', message, { facts: { options } })
}

// As much as somebody reads in a message; the facts have the options whole.
const shownLengthMax = 200

function beginning(text: string): string {
  return text.length <= shownLengthMax ? text : `${text.slice(0, shownLengthMax)}…`
}

/** Question and answer are in the log whole, so they must fit into an event. */
function checkSize(what: string, data: object, bytesMax: number, laterBytes = 0): void {
  if (fitsIn(JSON.stringify(data), bytesMax - laterBytes)) return
  throw new HoldfastError(
    'too_large',
    `${what} is at most ${bytesMax} bytes with what belongs to it; keep it elsewhere and pass a link`,
  )
}

/** What others write about a task is not written by its execution, so it carries no epoch. */
function unfenced(task: TaskRecord): TaskRecord {
  return { ...task, epoch: 0 }
}
