import type { Decision, Surroundings } from './decision.ts'
import { HoldfastError } from './errors.ts'
import type { JsonText, TaskId } from './id.ts'
import type { ParentContext } from './lineage.ts'
import { inputBytesOf, type LiveThread } from './live-thread.ts'
import { startTask } from './start.ts'
import { isTerminal } from './status.ts'
import type { StepRecord } from './step.ts'
import { type Asked, certainEnd, isRun, type OnResult, type TaskRecord, toTask } from './task.ts'
import { wakeUnder } from './tree.ts'
import { UnitDraft } from './unit-draft.ts'

/** Work to be accepted, already checked for shape. */
export interface TaskRequest {
  readonly type: string
  readonly agent?: string
  readonly name?: string
  readonly description: string
  readonly parent?: ParentContext
  readonly detached?: true
  readonly asked: Asked
  readonly input?: JsonText
  readonly inbox: boolean
  readonly closure?: true
  readonly timeoutMs?: number
  readonly onResult?: OnResult
  readonly metadata?: JsonText
  readonly traceparent?: string
}

/** How a request is tied to what asked for it. */
export interface AcceptOptions {
  readonly key?: { readonly key: string; readonly digest: string }
  /** The execution that spawns it, and the step by which it does: recorded in the same unit. */
  readonly spawnedBy?: {
    readonly task: TaskId
    readonly epoch: number
    readonly step: (child: TaskId) => StepRecord
  }
}

/** Accepts a task, and starts it in the same unit if this node has a slot for it. */
export function accept(
  live: LiveThread,
  around: Surroundings,
  request: TaskRequest,
  options: AcceptOptions = {},
): Decision<TaskRecord> {
  checkParent(live, around, request)
  const spawner = options.spawnedBy
  const fence = spawner && { task: spawner.task, epoch: spawner.epoch }
  const draft = new UnitDraft(live, around, 'accept', fence)
  checkInput(draft, request)
  const record = acceptInto(draft, request)
  if (options.key) draft.rememberKey({ ...options.key, task: record.id })
  if (spawner) {
    const step = spawner.step(record.id)
    // It makes the spawn unique among those of its parent's steps, which another's steps are not.
    if (record.parent?.task === spawner.task) draft.put({ ...record, stepKey: step.key })
    draft.step(step)
  }
  startIfPossible(draft, record.id)
  return { unit: draft.build(), value: draft.task(record.id) ?? record }
}

/**
 * Whoever decides about a thread has at hand what all its live tasks were given, and on a store that nodes share it is read
 * again and again. What follows from an end by itself, such as a wake, is never refused.
 */
export function checkInput(draft: UnitDraft, request: TaskRequest): void {
  const max = draft.around.limits.liveInputBytesPerThread
  const ownBytes = inputBytesOf(request)
  const liveBytes = draft.inputBytes
  if (ownBytes === 0 || liveBytes === 0 || liveBytes + ownBytes <= max) return
  throw new HoldfastError(
    'limit_reached',
    `What the live tasks of this thread were given takes ${liveBytes} bytes, and ${ownBytes} more would pass ${max} ` +
      '(liveInputBytesPerThread); wait for one to end, use another thread, or pass a link to what is large',
    { facts: { limit: 'liveInputBytesPerThread', max, retryAfterMs: 1000 } },
  )
}

/** Adds an accepted task to a unit. `place` is given for a run that grew from an earlier message. */
export function acceptInto(
  draft: UnitDraft,
  request: TaskRequest,
  place = draft.live.rev,
  steered?: string,
): TaskRecord {
  const { live, around } = draft
  checkNameIsFree(draft, request.name)
  const parent = request.parent?.task === undefined ? undefined : live.task(request.parent.task)
  const { onResult: _kept, ...rest } = request
  const record: TaskRecord = {
    ...rest,
    id: around.newTaskId(),
    key: live.key,
    status: 'pending',
    attempt: 0,
    epoch: 0,
    depth: parent ? parent.depth + 1 : 0,
    ready: !isRun(request) || draft.runs().length === 0,
    place,
    ...(request.closure && { node: around.node }),
    crashes: 0,
    ...(request.onResult && { onResult: request.onResult }),
    ...(parent && request.detached && wakeUnder(live, parent)),
    ...(parent?.traceparent !== undefined && { traceparent: request.traceparent ?? parent.traceparent }),
    ...(steered !== undefined && { steered }),
    taken: false,
    createdAt: 0,
    firstSeq: 0,
    seq: 0,
  }
  draft.add(record)
  // Number and instant of an embedded task are those of its event, put back by whoever reads it.
  const { seq: _seq, createdAt: _createdAt, ...task } = toTask(record)
  const data = { task: task as ReturnType<typeof toTask>, ...(steered !== undefined && { steered }) }
  draft.event('task.accepted', data, record, { path: 'task', field: 'input' })
  return record
}

function startIfPossible(draft: UnitDraft, id: TaskId): void {
  const record = draft.task(id)
  if (record?.ready && draft.around.takeSlot(record)) startTask(draft, record)
}

function checkParent(live: LiveThread, around: Surroundings, request: TaskRequest): void {
  const id = request.parent?.task
  if (id === undefined) return
  const parent = live.task(id)
  if (!parent || parent.cancelRequestedAt !== undefined) {
    const status = parent ? 'being cancelled' : 'ended'
    throw new HoldfastError('task_terminated', `The parent ${id} is ${status}, so it can have no new child`, {
      ...(parent && { facts: { taskStatus: certainEnd(parent) } }),
    })
  }
  const { treeDepth, childrenPerTask } = around.limits
  if (parent.depth + 1 >= treeDepth) {
    throw new HoldfastError('limit_reached', `A tree of tasks is at most ${treeDepth} deep (treeDepth)`)
  }
  if (live.children(id).length >= childrenPerTask) {
    throw new HoldfastError(
      'limit_reached',
      `${id} has ${childrenPerTask} live children, the most a task may have (childrenPerTask); wait for one to end`,
    )
  }
}

function checkNameIsFree(draft: UnitDraft, name: string | undefined): void {
  if (name === undefined) return
  const holder = draft.live.named(name)
  const latest = holder && draft.task(holder.id)
  if (!latest || isTerminal(latest.status)) return
  throw new HoldfastError('name_taken', `The name ${name} belongs to ${latest.id}, which has not ended`, {
    facts: { task: latest.id },
  })
}
