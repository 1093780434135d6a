import type { Question } from '../../core/question.ts'
import type { ThreadEvent } from '../thread-event.ts'
import { type Following, LiveModel, type Loadable } from './live-model.ts'
import type { LiveParts } from './live-parts.ts'
import { Reading } from './reading.ts'
import { whileWatching } from './while-watching.ts'

export interface QuestionListValue extends Loadable {
  /** Those that are open, in the order in which they were asked. */
  readonly questions: readonly Question[]
}

export const loadingQuestions: QuestionListValue = { questions: [], isLoading: true }

/** The open questions of the principal, or of one thread. */
export class QuestionList {
  readonly live: LiveModel<QuestionListValue>
  readonly #parts: LiveParts
  readonly #thread: string | undefined
  readonly #reading: Reading
  #held: ThreadEvent[] | undefined

  constructor(parts: LiveParts, thread: string | undefined, onStopped: () => void) {
    this.#parts = parts
    this.#thread = thread
    this.#reading = new Reading(parts)
    this.live = new LiveModel({
      ...parts,
      initial: loadingQuestions,
      follow: (following) => this.#follow(following),
      onStopped,
    })
  }

  #follow(following: Following<QuestionListValue>): Promise<void> {
    return whileWatching(this.#parts.watch, following.signal, {
      opened: () => void this.#reading.run(following, () => this.#read(following)),
      event: (event) => this.#take(following, event),
    })
  }

  /** What happens meanwhile is folded after it, because the answer may be older. */
  async #read(following: Following<QuestionListValue>): Promise<void> {
    const held: ThreadEvent[] = []
    this.#held = held
    const asked = this.#thread === undefined ? {} : { thread: this.#thread }
    try {
      const read = await this.#parts.client.questions({ ...asked, signal: following.signal })
      if (this.#held === held) following.set({ questions: held.reduce(questionsAfter, read), isLoading: false })
    } catch (error) {
      const { value } = following
      following.set({ ...value, questions: held.reduce(questionsAfter, value.questions) })
      throw error
    } finally {
      if (this.#held === held) this.#held = undefined
    }
  }

  #take(following: Following<QuestionListValue>, event: ThreadEvent): void {
    if (this.#thread !== undefined && event.thread !== this.#thread) return
    if (!event.type.startsWith('question.')) return
    if (this.#held) return void this.#held.push(event)
    const { value } = following
    const questions = questionsAfter(value.questions, event)
    if (questions !== value.questions) following.set({ ...value, questions })
  }
}

function questionsAfter(questions: readonly Question[], event: ThreadEvent): readonly Question[] {
  if (event.type === 'question.asked') {
    const { question } = event.data
    return questions.some(({ id }) => id === question.id) ? questions : [...questions, question]
  }
  if (event.type !== 'question.answered' && event.type !== 'question.closed') return questions
  const { id } = event.data
  return questions.some((question) => question.id === id)
    ? questions.filter((question) => question.id !== id)
    : questions
}
