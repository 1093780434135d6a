import type { TaskId, ThreadId } from './id.ts'

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
