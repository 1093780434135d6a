import { type AcceptOptions, acceptInto, checkInput, type TaskRequest } from './accept.ts'
import { cancelInto } from './cancel.ts'
import type { Decision, Surroundings } from './decision.ts'
import { HoldfastError } from './errors.ts'
import type { TaskId } from './id.ts'
import type { LiveThread } from './live-thread.ts'
import { steerMail } from './mail.ts'
import { positionsOf } from './position.ts'
import { startTask } from './start.ts'
import { steeredDigest } from './steered-digest.ts'
import type { TaskRecord } from './task.ts'
import { UnitDraft } from './unit-draft.ts'

/** What a run does when its thread has a live run already. */
export type OnBusy = 'queue' | 'steer' | 'interrupt' | 'reject'

export interface PromptOptions extends Pick<AcceptOptions, 'key'> {
  readonly onBusy: OnBusy
  readonly by: string
  /** The id of the message, if the prompt becomes one. */
  readonly messageId: string
}

export interface Accepted {
  readonly task: TaskRecord
  /** How many pending runs start before it, if it waits. */
  readonly position?: number
  readonly steered?: string
  readonly interrupted?: readonly TaskId[]
}

/** Accepts a run into its thread's queue, or does what `onBusy` says if a run is live. */
export function prompt(
  live: LiveThread,
  around: Surroundings,
  request: TaskRequest,
  options: PromptOptions,
): Decision<Accepted> {
  const runs = live.runs()
  if (runs.length > 0 && options.onBusy === 'reject') {
    throw new HoldfastError('busy', `The thread has a live run, ${runs[0]?.id}`, { facts: { task: runs[0]?.id } })
  }
  const target = options.onBusy === 'steer' ? steerable(runs) : undefined
  if (target) return steer(live, around, request, target, options)
  return queue(live, around, request, options)
}

/** The run that a steering prompt goes to: the running one, else the first pending; none while one is being cancelled. */
function steerable(runs: readonly TaskRecord[]): TaskRecord | undefined {
  const first = runs[0]
  return first?.cancelRequestedAt === undefined ? first : undefined
}

function steer(
  live: LiveThread,
  around: Surroundings,
  request: TaskRequest,
  target: TaskRecord,
  options: PromptOptions,
): Decision<Accepted> {
  if (request.asked !== 'prompt' && request.asked !== 'parts') {
    throw new HoldfastError('invalid_input', 'Steering needs a prompt or parts: a run reads it as a message')
  }
  const draft = new UnitDraft(live, around, 'send')
  checkQueue(draft)
  checkInput(draft, request)
  steerMail(draft, target, request, options)
  draft.wakes = 0
  const { key, messageId } = options
  if (key) draft.rememberKey({ key: key.key, digest: steeredDigest(key.digest, messageId), task: target.id })
  const value = { task: target, ...positionIn(draft, target), steered: messageId }
  return { unit: draft.build(), value }
}

function queue(
  live: LiveThread,
  around: Surroundings,
  request: TaskRequest,
  options: PromptOptions,
): Decision<Accepted> {
  const draft = new UnitDraft(live, around, 'accept')
  const isInterrupt = options.onBusy === 'interrupt' && live.runs().length > 0
  const interrupted = isInterrupt ? cancelInto(draft, { kind: 'runs' }, { by: options.by, reason: 'interrupted' }) : []
  checkQueue(draft)
  checkInput(draft, request)
  const record = acceptInto(draft, request)
  draft.wakes = 0
  if (options.key) draft.rememberKey({ ...options.key, task: record.id })
  if (record.ready && around.takeSlot(record)) startTask(draft, record)
  const task = draft.task(record.id) ?? record
  const value = { task, ...positionIn(draft, task), ...(isInterrupt && { interrupted }) }
  return { unit: draft.build(), value }
}

function positionIn(draft: UnitDraft, run: TaskRecord): { position?: number } {
  const position = positionsOf(draft.tasks()).get(run.id)
  return position === undefined ? {} : { position }
}

/** Steering that nobody has read becomes a run each, in one go, so it counts as the runs that wait already. */
function checkQueue(draft: UnitDraft): void {
  const { queuedRunsPerThread } = draft.around.limits
  const pending = draft.runs().filter((run) => run.status === 'pending')
  const mail = draft.live.runs().flatMap((run) => [...draft.live.mailOf(run.id)])
  const steering = mail.filter(({ id, steer }) => steer !== undefined && !draft.isRead(id))
  const queued = pending.length + steering.length
  if (queued < queuedRunsPerThread) return
  throw new HoldfastError(
    'limit_reached',
    `${queued} runs wait in this thread, the most there may be (queuedRunsPerThread); wait for one to end`,
    { facts: { retryAfterMs: 1000 } },
  )
}
