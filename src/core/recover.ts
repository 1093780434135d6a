import { isOverdue } from './deadline.ts'
import type { Decision, Surroundings } from './decision.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { isOpen } from './question.ts'
import type { ResumePlan } from './resume.ts'
import type { StepRecord } from './step.ts'
import type { TaskRecord } from './task.ts'
import { attachedTree } from './tree.ts'
import type { Report } from './unit.ts'
import { UnitDraft } from './unit-draft.ts'

/** A task that brings its node down this often in a row, and gets no further, is not tried again. */
export const crashesMax = 3

/**
 * Whether all that is left of a task is its end once its node is gone: it is cancelled, its code is gone with the node, or its time
 * is over. Nothing of its code is called for that, so it takes neither its agent nor a slot.
 */
export function isOver(record: TaskRecord, now: number): boolean {
  return record.closure === true || record.cancelRequestedAt !== undefined || isOverdue(record, now)
}

/**
 * Takes an orphan over: this node's lease covers it and the epoch is raised, so that from this commit on
 * nothing its old node writes is accepted. What follows (resume or end) is decided after reading its log.
 * A task that was handed over has no node, and its takeover is no crash.
 */
export function takeOver(
  live: LiveThread,
  around: Surroundings,
  id: TaskId,
  isWanted: (record: TaskRecord) => boolean = () => true,
): Decision<TaskRecord | undefined> {
  const record = live.task(id)
  if (!record || record.node === around.node || (record.status === 'pending' && !record.closure))
    return { value: undefined }
  if (!isWanted(record)) return { value: undefined }
  const draft = new UnitDraft(live, around, 'takeover')
  if (record.node !== undefined) draft.requireLapsed(record.node)
  const crashes = record.node === undefined ? record.crashes : record.crashes + 1
  const epoch = record.status === 'running' ? record.epoch + 1 : record.epoch
  draft.put({ ...record, node: around.node, crashes, epoch })
  return { unit: draft.build(), value: draft.task(id) }
}

/** What a resume is decided from, read after the takeover. */
export interface ResumeBasis extends Report {
  readonly plan: ResumePlan
  readonly crashes: number
}

/**
 * The crashes in a row that count, by what the task has recorded or by the last of it. If the attempt that crashed recorded a step,
 * those before it do not count. Which they were is not known, but an attempt begins with fewer than `crashesMax`: those beyond came
 * after it, when the task was to be taken over.
 */
export function countCrashes(record: TaskRecord, steps: readonly StepRecord[]): number {
  const hasNewStep = steps.some((step) => step.attempt === record.attempt)
  if (!hasNewStep) return record.crashes
  return Math.max(Math.min(record.crashes, 1), record.crashes - (crashesMax - 1))
}

/**
 * A resumed task that only waits, for people in the end, has lived to get as far as it can: whatever brings its node down while it
 * waits is not it, so the crashes before are not in a row with those to come. Without this a question would not outlive
 * three crashes of its node, whoever caused them.
 */
export function restWhileAsking(live: LiveThread, around: Surroundings, id: TaskId, epoch: number): Decision<boolean> {
  const record = live.task(id)
  if (!record || record.epoch !== epoch || record.crashes === 0) return { value: false }
  const isAsking = attachedTree(live, record).some((task) => live.questionsOf(task.id).some(isOpen))
  if (!isAsking) return { value: false }
  const draft = new UnitDraft(live, around, 'ask', { task: id, epoch })
  draft.put({ ...record, crashes: 0 })
  return { unit: draft.build(), value: true }
}

/** Begins the next attempt of a task that was taken over. */
export function resume(
  live: LiveThread,
  around: Surroundings,
  id: TaskId,
  epoch: number,
  basis: ResumeBasis,
): Decision<TaskRecord | undefined> {
  const record = live.task(id)
  if (!record || record.epoch !== epoch || record.cancelRequestedAt !== undefined) return { value: undefined }
  const draft = new UnitDraft(live, around, 'resume', { task: id, epoch })
  const { progress: _progress, usage: _usage, ...rest } = record
  const resumed: TaskRecord = {
    ...rest,
    attempt: record.attempt + 1,
    crashes: basis.crashes,
    ...(basis.progress !== undefined && { progress: basis.progress }),
    ...(basis.usage && { usage: basis.usage }),
  }
  draft.putReported(resumed, ['progress', 'usage'])
  const { keep, dropped } = basis.plan
  const data = { attempt: resumed.attempt, node: around.node, keep, ...(dropped.length > 0 && { dropped }) }
  draft.event('task.resumed', data, resumed)
  return { unit: draft.build(), value: resumed }
}

/**
 * Gives a task up for another node, or the next start, to go on with, and answers with it as it is by then. If this attempt
 * has recorded a step, the crashes before it are not in a row with those to come.
 */
export function release(
  live: LiveThread,
  around: Surroundings,
  id: TaskId,
  epoch: number,
  hasNewStep = false,
): Decision<TaskRecord | undefined> {
  const record = live.task(id)
  if (!record || record.epoch !== epoch) return { value: undefined }
  // A function that never started is nothing that runs, so no fence would let it pass.
  const fence = record.status === 'running' ? { task: id, epoch } : undefined
  const draft = new UnitDraft(live, around, 'release', fence)
  const { node: _released, ...rest } = record
  draft.put(hasNewStep ? { ...rest, crashes: 0 } : rest)
  return { unit: draft.build(), value: draft.task(id) }
}
