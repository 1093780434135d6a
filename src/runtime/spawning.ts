import { accept, type TaskRequest } from '../core/accept.ts'
import type { Decision } from '../core/decision.ts'
import { HoldfastError, isHoldfastError, notFound } from '../core/errors.ts'
import { type Principal, principalOf, type TaskId, type ThreadKey, threadId, threadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { mergeLineage } from '../core/lineage.ts'
import { certainEnd, type Task, type TaskRecord, toTask } from '../core/task.ts'
import type { Store } from '../stores/store.ts'
import type { SpawnOptions } from './agent.ts'
import type { Ambient } from './ambient.ts'
import { checkAsked } from './checked-input.ts'
import type { Closures } from './closures.ts'
import { digest } from './digest.ts'
import { executing, intent } from './entry.ts'
import { closedError, type Execution } from './execution.ts'
import { acceptedTask, type RequestKey, requestKey, requestText, unlessRepeated } from './idempotency.ts'
import { inTime } from './in-time.ts'
import type { OpenTasks } from './open-tasks.ts'
import type { Owners } from './owners.ts'
import type { Registry } from './registry.ts'
import { checkRequest, parentOf, spawnRequest } from './request.ts'
import { named, type StepTaker } from './step-taker.ts'
import type { OpenStep } from './steps.ts'
import type { Writer } from './writer.ts'

export interface SpawningParts {
  readonly store: Store
  readonly writer: Writer
  readonly ambient: Ambient
  readonly limits: Limits
  readonly agents: Registry
  readonly closures: Closures
  readonly owners: Owners
  readonly openTasks: OpenTasks
  /** Throws if new work is not accepted now. */
  checkOpen(): void
}

/** A spawn inside a task: the step by which it is made, and what it is to make. */
interface InnerSpawn {
  readonly execution: Execution
  readonly taker: StepTaker
  readonly step: OpenStep
  readonly request: TaskRequest
  readonly options: SpawnOptions
}

/** Spawns tasks, from outside any task and inside one. */
export class Spawning {
  readonly #parts: SpawningParts

  constructor(parts: SpawningParts) {
    this.#parts = parts
  }

  /** Spawns from outside any task. */
  async spawn(principal: Principal, options: SpawnOptions): Promise<Task> {
    const { store, writer, ambient } = this.#parts
    this.#parts.checkOpen()
    const thread = threadKey(principal, threadId(options.thread ?? ''))
    const { scope } = ambient
    // Code of a task in another thread, or of another principal, spawns a root here.
    const isHome = scope?.thread === undefined || scope.thread === thread
    const parent = mergeLineage(parentOf(options), isHome ? scope?.lineage : undefined)
    const request = spawnRequest(options, parent)
    const key = requestKey(options.idempotencyKey, 'tasks', thread, request)
    const accepting = this.#accept(thread, request, options, key)
    return acceptedTask(store, await unlessRepeated(writer, thread, key, accepting), key)
  }

  async #accept(thread: ThreadKey, request: TaskRequest, options: SpawnOptions, key: RequestKey | undefined) {
    checkRequest(request, this.#parts.limits)
    await this.#checkAgent(request)
    // A schema may take its time, in which the runtime may have begun to close.
    this.#parts.checkOpen()
    const change = this.#parts.writer.change(
      intent(thread, 'accept', (live, around) =>
        this.#admit(accept(live, around, request, { ...(key && { key }) }), options),
      ),
    )
    return await inTime(this.#withParent(change, thread, request.parent))
  }

  /**
   * Spawns inside a task, as one of its steps: also while the runtime closes, because the task is no new work. What
   * depends on more than the options is checked in the step, so that a recorded spawn is not refused later on.
   */
  async spawnInside(execution: Execution, taker: StepTaker, options: SpawnOptions): Promise<Task> {
    const { ambient, store } = this.#parts
    const own = execution.thread
    const target = options.thread === undefined ? own : threadKey(principalOf(own), threadId(options.thread))
    const { scope } = ambient
    const lineage = scope?.task === execution.task ? scope.lineage : { task: execution.task }
    const parent = target === own ? mergeLineage(parentOf(options), lineage) : undefined
    const { traceparent = execution.record.traceparent } = options
    const traced = traceparent === undefined ? options : { ...options, traceparent }
    const request = spawnRequest(traced, parent)
    // Before it is a step: what is refused here has never been one.
    checkRequest(request, this.#parts.limits)
    const name = { ...named('spawn', options.name), input: digest(target, requestText(request)) }
    const { task } = await taker.takeRaw(name, async (step) => {
      await this.#checkAgent(request)
      const spawn = { execution, taker, step, request, options }
      return target === own ? this.#spawnHere(spawn) : this.#spawnElsewhere(spawn, target)
    })
    const record = await taker.read(() => store.task(task))
    if (!record) throw notFound(task)
    return toTask(record)
  }

  async #spawnHere({ execution, taker, step, request, options }: InnerSpawn): Promise<{ task: TaskId }> {
    const { task, epoch, thread } = execution
    if (execution.isClosed) throw closedError(execution)
    const record = (child: TaskId) => taker.recordOf(step, JSON.stringify({ task: child }))
    const change = this.#parts.writer.change(
      executing(execution, 'accept', (live, around) =>
        this.#admit(accept(live, around, request, { spawnedBy: { task, epoch, step: record } }), options),
      ),
    )
    const done = await this.#withParent(change, thread, request.parent)
    if ('refusal' in done) throw closedError(execution)
    return { task: done.value.id }
  }

  /** Another thread is another unit, so the step's own key makes sure that one child comes of it. */
  async #spawnElsewhere(spawn: InnerSpawn, thread: ThreadKey): Promise<{ task: TaskId }> {
    const { execution, taker, step, request, options } = spawn
    const { store, writer } = this.#parts
    // Begins with a space, which no caller's key can.
    const key = { key: ` ${execution.task}/${step.path}`, digest: digest(thread, requestText(request)) }
    const accepting = writer.change({
      lane: thread,
      thread,
      operation: 'accept',
      isIntent: false,
      decide: (live, around) => this.#admit(accept(live, around, request, { key }), options),
    })
    const { id } = await acceptedTask(store, await unlessRepeated(writer, thread, key, accepting), key)
    await taker.record(step, JSON.stringify({ task: id }))
    return { task: id }
  }

  async #checkAgent(request: TaskRequest): Promise<void> {
    if (request.agent !== undefined) await checkAsked(this.#parts.agents, request.agent, request)
  }

  /** Refuses a task too many, and keeps what of an accepted one cannot be stored, before its commit can start it. */
  #admit(decision: Decision<TaskRecord>, { run, inbox }: SpawnOptions): Decision<TaskRecord> {
    this.#parts.openTasks.admit(decision)
    if (run) this.#parts.closures.keep(decision.value, run)
    if (inbox) this.#parts.owners.keep(decision.value.id, inbox)
    return decision
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
      const facts = { taskStatus: certainEnd(record) ?? record.status }
      throw new HoldfastError('task_terminated', error.message, { facts })
    }
  }
}
