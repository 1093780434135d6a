import { randomBytes } from 'node:crypto'
import { answer, expire } from '../core/ask.ts'
import { HoldfastError, noSuchQuestion } from '../core/errors.ts'
import { type Principal, principalOf, threadId } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { type Question, type QuestionRecord, toQuestion } from '../core/question.ts'
import { certainEnd } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import { encode } from './encode.ts'
import { intent } from './entry.ts'
import type { Writer } from './writer.ts'

export interface QuestionParts {
  readonly store: Store
  readonly writer: Writer
  readonly limits: Limits
}

// Enough to be unique, short enough to be copied by hand.
const idBytes = 10

export function newQuestionId(): string {
  return `q_${randomBytes(idBytes).toString('hex')}`
}

// More than a node expires in a moment; what is left is seen to at the next look.
const expiredAtOnce = 256

/** What people do with questions: they read them and answer them. */
export class Questions {
  readonly #parts: QuestionParts

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  /** A principal's open questions, oldest first. */
  async open(principal: Principal, thread?: string): Promise<Question[]> {
    const query = { principal, ...(thread !== undefined && { thread: threadId(thread) }) }
    return (await this.#parts.store.questions(query)).map(toQuestion)
  }

  /** Answers once. It is committed before this returns; what waits for it is woken by the commit. */
  async answer(principal: Principal, id: string, given: unknown): Promise<Question> {
    const { store, writer, limits } = this.#parts
    const question = await this.#own(principal, id)
    const text = encode(given ?? null, { what: 'The answer', bytesMax: limits.eventBytes })
    const done = await writer.change(
      intent(question.key, 'answer', (live, around) =>
        answer(live, around, question, { answer: text, by: principal }, store.clock.now()),
      ),
    )
    if ('refusal' in done || !done.value) throw await this.#refusal(principal, id)
    return toQuestion({
      ...done.value,
      ...(done.verdict && { answeredAt: done.verdict.at }),
      askedAt: question.askedAt,
    })
  }

  /** Expires what nobody waits for here: the task of a question may be executed elsewhere, or nowhere. */
  async expireDue(): Promise<void> {
    const { store, writer } = this.#parts
    const due = await store.questions({ expiredAt: store.clock.now(), limit: expiredAtOnce })
    const expiring = due.map((question) =>
      writer.change(
        intent(question.key, 'answer', (live, around) => expire(live, around, question, store.clock.now())),
      ),
    )
    await Promise.all(expiring)
  }

  /** Another principal's question is as one that does not exist. */
  async #own(principal: Principal, id: string): Promise<QuestionRecord> {
    const [question] = typeof id === 'string' ? await this.#parts.store.questions({ id }) : []
    if (!question || principalOf(question.key) !== principal) throw noSuchQuestion()
    return question
  }

  async #refusal(principal: Principal, id: string): Promise<HoldfastError> {
    const question = toQuestion(await this.#own(principal, id))
    const { answer: first, by, answeredAt } = question
    if (answeredAt !== undefined) {
      const facts = { answer: first, by, answeredAt }
      return new HoldfastError('already_answered', `The question was answered before, by ${by}`, { facts })
    }
    const task = await this.#parts.store.task(question.task)
    if (!task) return noSuchQuestion()
    const facts = { taskStatus: certainEnd(task) ?? task.status }
    const message = 'The question is closed: its time is over, or its task has ended or is being cancelled'
    return new HoldfastError('task_terminated', message, { facts })
  }
}
