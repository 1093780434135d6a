import { invariant, type TaskError } from './errors.ts'
import { byteLength } from './fits-in.ts'
import type { JsonText, TaskId } from './id.ts'
import { isTerminal, type TerminalStatus } from './status.ts'
import type { ShownRecord, TaskRecord } from './task.ts'

/** How a task ended, as people and other tasks read it. */
export interface Result {
  readonly task: TaskId
  readonly status: TerminalStatus
  readonly answer?: unknown
  /** Where results are listed: it is there, but those before it had taken what there is room for. The task by itself has it. */
  readonly answerOmitted?: true
  readonly error?: TaskError
}

export function toResult(record: ShownRecord): Result {
  invariant(isTerminal(record.status), `${record.id} has not ended`)
  const result = JSON.parse(resultText(record)) as Result
  return record.resultOmitted ? { ...result, answerOmitted: true } : result
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
