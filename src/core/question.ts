import { type JsonText, type TaskId, type ThreadId, type ThreadKey, threadOf } from './id.ts'

/** What a task asks of people, and what was answered. */
export interface Question {
  readonly id: string
  readonly thread: ThreadId
  readonly task: TaskId
  readonly text: string
  /** The answer is one of these, if there are any. */
  readonly options?: readonly string[]
  /** What answers it at `expiresAt`. */
  readonly default?: unknown
  readonly askedAt: number
  readonly expiresAt?: number
  readonly answer?: unknown
  /** Who answered: a principal, or `timeout`. */
  readonly by?: string
  readonly answeredAt?: number
}

/** Why a question was closed without an answer. */
export type Closing = 'timeout' | 'ended'

/**
 * A question as the store keeps it, for as long as its task. `askedAt` and `answeredAt` are filled in by the store, which
 * alone knows the clock of a commit.
 */
export interface QuestionRecord {
  readonly id: string
  readonly key: ThreadKey
  readonly task: TaskId
  /** The step that asks: a task has one question per step. */
  readonly stepKey: string
  /** A digest of what is asked, by which questions of one key are told apart when the task goes on after a crash. */
  readonly input?: string
  readonly text: string
  readonly options?: readonly string[]
  readonly default?: JsonText
  readonly askedAt: number
  readonly expiresAt?: number
  readonly answer?: JsonText
  readonly by?: string
  readonly answeredAt?: number
  readonly closed?: Closing
  /** Its task has gone on with what came of it: no decision needs it any more. */
  readonly taken: boolean
}

/** Nobody has answered it, and it was not closed. */
export function isOpen({ answer, closed }: QuestionRecord): boolean {
  return answer === undefined && closed === undefined
}

/** By the store's clock. */
export function isExpired({ expiresAt }: QuestionRecord, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now
}

export function toQuestion(record: QuestionRecord): Question {
  const { id, key, task, text, options, default: fallback, askedAt, expiresAt, answer, by, answeredAt } = record
  return {
    id,
    thread: threadOf(key),
    task,
    text,
    ...(options && { options }),
    ...(fallback !== undefined && { default: JSON.parse(fallback) as unknown }),
    askedAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(answer !== undefined && { answer: JSON.parse(answer) as unknown }),
    ...(by !== undefined && { by }),
    ...(answeredAt !== undefined && { answeredAt }),
  }
}
