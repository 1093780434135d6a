import type { Decision, Surroundings } from './decision.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import type { Part } from './message.ts'
import { isRun, type TaskRecord } from './task.ts'
import { UnitDraft } from './unit-draft.ts'

/** Starts a pending task on this node, if it may still start. */
export function start(live: LiveThread, around: Surroundings, id: TaskId): Decision<TaskRecord | undefined> {
  const record = live.task(id)
  if (!record?.ready) return { value: undefined }
  const draft = new UnitDraft(live, around, 'start')
  startTask(draft, record)
  return { unit: draft.build(), value: draft.task(id) }
}

/** Adds the start of a task to a unit: `task.started`, then a run's user message. */
export function startTask(draft: UnitDraft, record: TaskRecord): void {
  const { node } = draft.around
  const version = draft.around.versionOf(record.agent)
  const started: TaskRecord = {
    ...record,
    status: 'running',
    ready: false,
    attempt: 1,
    epoch: 1,
    node,
    ...(version !== undefined && { version }),
  }
  draft.put(started, 'startedAt', 'startedSeq')
  draft.event('task.started', { attempt: started.attempt, node }, started)
  userMessage(draft, started)
}

/** What was asked, as it enters the conversation when a run starts, or is cancelled before it starts. */
export function userMessage(draft: UnitDraft, record: TaskRecord): void {
  if (!isRun(record) || record.asked === 'nothing') return
  const role = record.asked === 'wake' ? 'system' : 'user'
  draft.message({ id: `${record.id}.${role}`, role, parts: askedParts(record) }, record)
}

/** What a task was asked, as parts of a message. */
export function askedParts(record: TaskRecord): Part[] {
  const value: unknown = record.input === undefined ? undefined : JSON.parse(record.input)
  switch (record.asked) {
    case 'prompt':
      return [{ type: 'text', text: value as string }]
    case 'parts':
      return value as Part[]
    case 'wake':
      return [{ type: 'data', name: 'results', value }]
    case 'input':
    case 'nothing':
      return [{ type: 'data', name: 'input', value }]
  }
}
