import { accept, type TaskRequest } from '../core/accept.ts'
import { type CancelScope, cancel } from '../core/cancel.ts'
import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import { type Principal, principalOf, type TaskId, type ThreadKey, taskId, threadId, threadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { mergeLineage } from '../core/lineage.ts'
import { collect, send } from '../core/mail.ts'
import { type Accepted, prompt } from '../core/prompt.ts'
import { isTerminal, type TerminalStatus } from '../core/status.ts'
import { type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { RunOptions, SpawnOptions } from './agent.ts'
import type { Ambient } from './ambient.ts'
import { committedRecord } from './committed-record.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import type { Done } from './entry.ts'
import { closedError, type Execution } from './execution.ts'
import type { Executor } from './executor.ts'
import { repeated, requestKey, unlessRepeated } from './idempotency.ts'
import type { Owners } from './owners.ts'
import { parentOf, runRequest, spawnRequest } from './request.ts'
import { named, notFound, type StepTaker } from './step-taker.ts'
import type { OpenStep } from './steps.ts'
import type { Writer } from './writer.ts'

export interface IntakeParts {
  readonly store: Store
  readonly writer: Writer
  readonly executor: Executor
  readonly ambient: Ambient
  readonly limits: Limits
  readonly owners: Owners
  newMessageId(): string
  /** Throws if new work is not accepted now. */
  checkOpen(): void
  hasAgent(name: string): boolean
}

// Shown beside the task, and repeated in the error of each task that it ends.
const reasonBytesMax = 4096

/** A run as it was accepted. */
export type AcceptedRun = Task & {
  /** The id of the message that the prompt became, if it steered this run. */
  readonly steered?: string
  /** What was cancelled for it. */
  readonly interrupted?: readonly TaskId[]
  /** The same request with the same key was accepted before; this is its task as it is now. */
  readonly isReplayed?: true
}

export type SendAnswer =
  | { readonly isSent: true; readonly id: string }
  | {
      readonly isSent: false
      readonly reason: 'not_found' | 'not_owner' | 'task_terminated' | 'no_inbox'
      readonly taskStatus?: TerminalStatus
    }

/** What may be asked of a thread from outside: each is checked, decided and committed before it is answered. */
export class Intake {
  readonly #parts: IntakeParts

  constructor(parts: IntakeParts) {
    this.#parts = parts
  }

  /** Spawns from outside any task. */
  async spawn(principal: Principal, options: SpawnOptions): Promise<Task> {
    this.#parts.checkOpen()
    const thread = threadKey(principal, threadId(options.thread ?? ''))
    const { scope } = this.#parts.ambient
    // Code of a task in another thread, or of another principal, spawns a root here.
    const isHome = scope?.thread === undefined || scope.thread === thread
    const parent = mergeLineage(parentOf(options), isHome ? scope?.lineage : undefined)
    const request = spawnRequest(options, parent, this.#parts.limits)
    if (options.agent !== undefined) this.#checkAgent(options.agent)
    const key = requestKey(options.idempotencyKey, 'tasks', thread, request)
    const change = this.#parts.writer.change({
      lane: thread,
      thread,
      operation: 'accept',
      isIntent: true,
      decide: (live, around) => {
        const decision = accept(live, around, request, { ...(key && { key }) })
        this.#keep(decision.value, options)
        return decision
      },
    })
    const accepting = this.#withParent(change, thread, parent)
    return this.#accepted(await unlessRepeated(this.#parts.writer, thread, key, accepting), key?.digest)
  }

  /**
   * Spawns inside a task, as one of its steps: also while the runtime closes, because the task is no new work. What
   * depends on more than the options is checked in the step, so that a recorded spawn is not refused later on.
   */
  async spawnInside(execution: Execution, taker: StepTaker, options: SpawnOptions): Promise<Task> {
    const own = execution.thread
    const target = options.thread === undefined ? own : threadKey(principalOf(own), threadId(options.thread))
    const scope = this.#parts.ambient.scope
    const lineage = scope?.task === execution.task ? scope.lineage : { task: execution.task }
    const parent = target === own ? mergeLineage(parentOf(options), lineage) : undefined
    const request = spawnRequest(options, parent, this.#parts.limits)
    const name = named('spawn', 'spawn', options.name)
    const { task } = await taker.takeRaw(name, async (step) => {
      if (options.agent !== undefined) this.#checkAgent(options.agent)
      return target === own
        ? this.#spawnAttached(execution, taker, step, request, options)
        : this.#spawnElsewhere(execution, taker, step, target, request, options)
    })
    return toTask(await taker.read(() => this.#known(task)))
  }

  async run(principal: Principal, options: RunOptions): Promise<AcceptedRun> {
    this.#parts.checkOpen()
    const thread = threadKey(principal, threadId(options.thread))
    const request = runRequest(options, this.#parts.limits)
    this.#checkAgent(options.agent)
    const onBusy = options.onBusy ?? 'queue'
    const key = requestKey(options.idempotencyKey, 'runs', thread, { ...request, onBusy })
    const messageId = this.#parts.newMessageId()
    const accepting = this.#parts.writer.change({
      lane: thread,
      thread,
      operation: 'accept',
      isIntent: true,
      decide: (live, around) =>
        prompt(live, around, request, { onBusy, by: principal, messageId, ...(key && { key }) }),
    })
    const done = await unlessRepeated(this.#parts.writer, thread, key, accepting)
    if ('refusal' in done) return this.#accepted(done, key?.digest)
    const { task, ...rest }: Accepted = done.value
    return { ...(await this.#accepted({ ...done, value: task }, key?.digest)), ...rest }
  }

  /** Answers with every task in reach that had not ended at the commit. */
  async cancel(thread: ThreadKey, scope: CancelScope, by: string, reason?: string): Promise<TaskId[]> {
    if (reason !== undefined) encode(reason, { what: 'The reason', bytesMax: reasonBytesMax })
    const why = { by, ...(reason !== undefined && { reason }) }
    const done = await this.#parts.writer.change({
      lane: thread,
      thread,
      operation: 'cancel',
      isIntent: true,
      decide: (live, around) => cancel(live, around, scope, why),
    })
    return 'refusal' in done ? [] : done.value
  }

  async send(record: TaskRecord, by: string, message: { content: unknown; from?: string }): Promise<SendAnswer> {
    if (isTerminal(record.status)) return terminated(record.status)
    if (!record.inbox) return { isSent: false, reason: 'no_inbox' }
    const content = encode(message.content ?? null, { what: 'The message', bytesMax: this.#parts.limits.eventBytes })
    const letter = {
      id: this.#parts.newMessageId(),
      by,
      ...(message.from !== undefined && { from: message.from }),
      content,
    }
    const done = await this.#parts.writer.change<string | undefined>({
      lane: record.key,
      thread: record.key,
      operation: 'send',
      isIntent: true,
      decide: (live, around) => {
        const target = live.task(record.id)
        return target ? send(live, around, target, letter) : { value: undefined }
      },
    })
    if ('value' in done && done.value !== undefined) return { isSent: true, id: done.value }
    const ended = await this.#known(record.id)
    return terminated(isTerminal(ended.status) ? ended.status : 'failed')
  }

  async collect(thread: ThreadKey, tasks: readonly string[]): Promise<readonly TaskId[]> {
    const ids = tasks.map(taskId)
    if (ids.length === 0) return []
    const done = await this.#parts.writer.change({
      lane: thread,
      thread,
      operation: 'collect',
      isIntent: true,
      decide: (live, around) => collect(live, around, ids),
    })
    return 'refusal' in done ? [] : (done.verdict?.taken ?? [])
  }

  #checkAgent(name: string): void {
    if (this.#parts.hasAgent(name)) return
    throw new HoldfastError('unknown_agent', `No agent named ${JSON.stringify(name)} is registered`)
  }

  #keep(task: TaskRecord, options: SpawnOptions): void {
    if (options.run) this.#parts.executor.keepClosure(task, options.run)
    if (options.inbox) this.#parts.owners.keep(task.id, options.inbox)
  }

  async #spawnAttached(
    execution: Execution,
    taker: StepTaker,
    step: OpenStep,
    request: TaskRequest,
    options: SpawnOptions,
  ): Promise<{ task: TaskId }> {
    const { task, epoch, thread } = execution
    if (execution.isClosed) throw closedError(execution)
    const change = this.#parts.writer.change({
      lane: task,
      thread,
      operation: 'accept',
      isIntent: false,
      decide: (live, around) => {
        const record = (child: TaskId) => taker.recordOf(step, JSON.stringify({ task: child }))
        const decision = accept(live, around, request, { spawnedBy: { task, epoch, step: record } })
        this.#keep(decision.value, options)
        return decision
      },
    })
    const done = await this.#withParent(change, thread, request.parent)
    if ('refusal' in done) throw closedError(execution)
    return { task: done.value.id }
  }

  /**
   * A decision sees live tasks only, so it takes any other parent for an ended one. What is wrong with it is in the
   * store; one of another thread is as one that does not exist.
   */
  async #withParent<Value>(change: Promise<Value>, thread: ThreadKey, parent: TaskRequest['parent']): Promise<Value> {
    try {
      return await change
    } catch (error) {
      if (parent?.task === undefined || !isHoldfastError(error, 'task_terminated')) throw error
      const record = await this.#parts.store.task(parent.task)
      if (record?.key !== thread) throw notFound(parent.task)
      throw new HoldfastError('task_terminated', error.message, { facts: { taskStatus: record.status } })
    }
  }

  /** Another thread is another unit, so the step's own key makes sure that one child comes of it. */
  async #spawnElsewhere(
    execution: Execution,
    taker: StepTaker,
    step: OpenStep,
    thread: ThreadKey,
    request: TaskRequest,
    options: SpawnOptions,
  ): Promise<{ task: TaskId }> {
    // Begins with a space, which no caller's key can.
    const key = { key: ` ${execution.task}/${step.path}`, digest: digest(thread, JSON.stringify(request)) }
    const accepting = this.#parts.writer.change({
      lane: thread,
      thread,
      operation: 'accept',
      isIntent: false,
      decide: (live, around) => {
        const decision = accept(live, around, request, { key })
        this.#keep(decision.value, options)
        return decision
      },
    })
    const done = await unlessRepeated(this.#parts.writer, thread, key, accepting)
    const { id } = await this.#accepted(done, key.digest)
    await taker.record(step, JSON.stringify({ task: id }))
    return { task: id }
  }

  async #accepted(done: Done<TaskRecord>, asked?: string): Promise<Task & { isReplayed?: true }> {
    if (!('refusal' in done)) {
      const { value, unit, verdict } = done
      return toTask(unit && verdict ? committedRecord(unit, verdict, value) : value)
    }
    return repeated(this.#parts.store, done.refusal, asked)
  }

  async #known(id: TaskId): Promise<TaskRecord> {
    const record = await this.#parts.store.task(id)
    if (!record) throw notFound(id)
    return record
  }
}

function terminated(taskStatus: TerminalStatus): SendAnswer {
  return { isSent: false, reason: 'task_terminated', taskStatus }
}
