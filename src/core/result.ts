import { invariant, type TaskError } from './errors.ts'
import { byteLength } from './fits-in.ts'
import type { JsonText, TaskId } from './id.ts'
import { isTerminal, type TerminalStatus } from './status.ts'
import type { TaskRecord } from './task.ts'

/** How a task ended, as people and other tasks read it. */
export interface Result {
  readonly task: TaskId
  readonly status: TerminalStatus
  readonly answer?: unknown
  readonly error?: TaskError
}

export function toResult(record: TaskRecord): Result {
  invariant(isTerminal(record.status), `${record.id} has not ended`)
  return JSON.parse(resultText(record)) as Result
}

/** The same as text. What the agent returned stands in it as it was first encoded. */
export function resultText({ id, status, error, result }: TaskRecord): JsonText {
  const head = JSON.stringify({ task: id, status, ...(error && { error }) })
  return result === undefined ? head : `${head.slice(0, -1)},"answer":${result}}`
}

/** What that text takes in UTF-8. */
export function resultBytes(record: TaskRecord): number {
  return byteLength(resultText(record))
}
