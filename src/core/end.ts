import { closeQuestions } from './ask.ts'
import { cancelChildren, cancelMessage } from './cancel-task.ts'
import type { Decision, Surroundings } from './decision.ts'
import type { TaskError } from './errors.ts'
import type { JsonText, TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { unreadBy } from './mail.ts'
import type { Finish } from './message.ts'
import type { Outcome } from './outcome.ts'
import { assistantParts, hasOutput, type PartsFold } from './parts.ts'
import { settle } from './settle.ts'
import { isRun, type TaskRecord } from './task.ts'
import { UnitDraft } from './unit-draft.ts'

/** How a task's code ended, and what it had put out by then. */
export interface Ending {
  readonly outcome: Outcome
  readonly output: PartsFold
}

/**
 * Ends a task: closes its open calls and questions, writes a run's assistant message and the one terminal event, cancels its live
 * attached tree, and settles the thread. A committed cancel can only end as cancelled, whatever the code did.
 * Answers undefined if the task had ended already, or runs under another epoch.
 */
export function end(
  live: LiveThread,
  around: Surroundings,
  id: TaskId,
  epoch: number,
  ending: Ending,
): Decision<TaskRecord | undefined> {
  const record = live.task(id)
  if (!record || record.epoch !== epoch) return { value: undefined }
  const fence = record.status === 'running' ? { task: id, epoch } : undefined
  const draft = new UnitDraft(live, around, 'end', fence)
  endTask(draft, record, ending)
  settle(draft)
  return { unit: draft.build(), value: draft.task(id) }
}

function endTask(draft: UnitDraft, record: TaskRecord, { outcome: given, output }: Ending): void {
  const outcome = record.cancelRequestedAt === undefined ? given : asCancelled(given, record)
  const closed = closeCalls(draft, record, outcome, output)
  closeQuestions(draft, record)
  assistantMessage(draft, record, outcome, closed)
  const ended = { ...endedRecord(record, outcome, closed, draft.live.rev), ...unreadBy(draft, record.id) }
  // A completed task's progress is 1, whatever it has reported.
  if (ended.status === 'completed') draft.putReported(ended, ['progress'], 'completedAt')
  else draft.put(ended, 'completedAt')
  terminalEvent(draft, ended, outcome)
  draft.forget(record.id)
  cancelChildren(draft, record)
}

function closeCalls(draft: UnitDraft, record: TaskRecord, outcome: Outcome, output: PartsFold): PartsFold {
  const closed = output.clone()
  for (const id of output.openCalls) {
    const data = { id, error: `The task ended as ${outcome.status} before the tool did` }
    draft.event('tool.result', data, record)
    closed.add({ type: 'tool.result', data: JSON.stringify(data) })
  }
  return closed
}

/** What an agent says of its cancel stands. */
function asCancelled(given: Outcome, { cancelReason }: TaskRecord): Outcome {
  const isForced = given.status !== 'completed' && given.isForced
  const stated = given.status === 'cancelled' ? given.message : undefined
  const forced = isForced ? '; it did not end within the grace time, and was ended by force' : ''
  const message = stated ?? `${cancelMessage(cancelReason)}${forced}`
  return { status: 'cancelled', message, ...(isForced && { isForced }) }
}

function endedRecord(record: TaskRecord, outcome: Outcome, output: PartsFold, endPlace: number): TaskRecord {
  const { node: _released, ...rest } = record
  const ended = { ...rest, status: outcome.status, ready: false, endPlace }
  if (outcome.status === 'completed') {
    const result = outcome.result ?? answerText(output)
    return { ...ended, progress: 1, ...(result !== undefined && { result }) }
  }
  return { ...ended, error: errorOf(outcome), ...(hasOutput(output) && { partial: true }) }
}

function answerText(output: PartsFold): JsonText | undefined {
  return output.answer && JSON.stringify(output.answer.output)
}

function terminalEvent(draft: UnitDraft, ended: TaskRecord, outcome: Outcome): void {
  const partial = ended.partial && ({ partial: true } as const)
  const unread = ended.unread && { unread: ended.unread }
  switch (outcome.status) {
    case 'completed': {
      const result = ended.result === undefined ? {} : { result: JSON.parse(ended.result) as unknown }
      draft.event('task.completed', { ...result, ...unread }, ended, { field: 'result' })
      return
    }
    case 'failed':
      draft.event('task.failed', { error: errorOf(outcome), ...partial, ...unread }, ended)
      return
    case 'cancelled': {
      const forced = outcome.isForced && ({ forced: true } as const)
      draft.event('task.cancelled', { error: errorOf(outcome), ...forced, ...partial, ...unread }, ended)
    }
  }
}

function errorOf(outcome: Exclude<Outcome, { status: 'completed' }>): TaskError {
  return outcome.status === 'failed'
    ? outcome.error
    : { code: 'cancelled', message: outcome.message ?? cancelMessage() }
}

/** Written if there is something to show, and always for a cancelled run, so that its ending is in the conversation. */
function assistantMessage(draft: UnitDraft, record: TaskRecord, outcome: Outcome, output: PartsFold): void {
  if (!isRun(record) || (!hasOutput(output) && outcome.status !== 'cancelled')) return
  const parts = assistantParts(output)
  draft.message({ id: `${record.id}.assistant`, role: 'assistant', parts, finish: finishOf(outcome) }, record)
}

/** How the last message of a task that ended so is marked. */
export function finishOf({ status, error }: Pick<TaskRecord, 'status' | 'error'>): Finish {
  if (status === 'completed') return 'end_turn'
  if (status === 'cancelled') return 'cancelled'
  return error?.code === 'timeout' ? 'timeout' : 'error'
}
