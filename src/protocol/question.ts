import type { TaskId, ThreadId } from '../core/id.ts'

/** Something a task asks people, as they see it. */
export interface Question {
  readonly id: string
  readonly thread: ThreadId
  readonly task: TaskId
  readonly text: string
  readonly options?: readonly string[]
  readonly default?: unknown
  readonly askedAt: number
  readonly expiresAt?: number
  readonly answer?: unknown
  readonly by?: string
  readonly answeredAt?: number
}
