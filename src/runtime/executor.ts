import { deadlineOf } from '../core/deadline.ts'
import { type Ending, end } from '../core/end.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import { type Outcome, thrownOutcome } from '../core/outcome.ts'
import { PartsFold } from '../core/parts.ts'
import { restWhileAsking } from '../core/recover.ts'
import { Replay } from '../core/replay.ts'
import { EmitBag } from '../core/resume.ts'
import { StepKeys, type StepRecord } from '../core/step.ts'
import type { TaskRecord } from '../core/task.ts'
import type { AgentContext, AgentFunction } from './agent.ts'
import { callAgent } from './agent-call.ts'
import { isForced, outcomeOf, timedOut } from './agent-outcome.ts'
import { BackOff } from './back-off.ts'
import type { Clock, Timer } from './clock.ts'
import type { Closures } from './closures.ts'
import { executing } from './entry.ts'
import { Execution, type ExecutionParts } from './execution.ts'
import { loggedError } from './logged-error.ts'
import type { Logger } from './logger.ts'
import type { Registry } from './registry.ts'
import { SlotHolder } from './slot-holder.ts'
import type { Slots } from './slots.ts'
import { Steps } from './steps.ts'

export interface ExecutorParts extends ExecutionParts {
  readonly slots: Slots
  readonly clock: Clock
  readonly log: Logger
  /** The store's clock, by which deadlines are fixed. */
  readonly storeClock: { now(): number }
  readonly graceMs: number
  readonly agents: Registry
  readonly closures: Closures
  context(execution: Execution): AgentContext
}

// Of a first attempt. There is nothing in them to be taken or missed, so they never change, and all share them.
const nothingEmitted = new EmitBag()
const nothingRecorded = new Replay([])

/** What the earlier attempts of a task left for the one that resumes it. */
export interface Resumption {
  readonly output: PartsFold
  readonly bag: EmitBag
  readonly steps: readonly StepRecord[]
}

/**
 * Calls agents and ends their tasks. One execution per task on this node; the slot it needs was taken before.
 *
 * E1 Whatever an agent does, its task ends once, by its outcome or by force, and nothing else is harmed.
 *    An end that the store refuses, whatever it says, is tried again until the task is handed over or lost.
 * E2 A stopped task has `graceMs` to end by itself; then it is ended, fenced, and what it says later is dropped.
 */
export class Executor {
  readonly #parts: ExecutorParts
  readonly #executions = new Map<TaskId, Execution>()
  readonly #byThread = new Map<ThreadKey, Set<Execution>>()
  readonly #timers = new Map<Execution, Timer[]>()
  readonly #deadlines = new Map<Execution, Timer>()
  readonly #contexts = new WeakMap<Execution, AgentContext>()
  readonly #cancelled = new WeakSet<Execution>()
  /** Whose end the store refuses. */
  readonly #unended = new WeakSet<Execution>()
  #onIdle: (() => void)[] = []

  constructor(parts: ExecutorParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#executions.size
  }

  get(task: TaskId): Execution | undefined {
    return this.#executions.get(task)
  }

  /** What the agent of a task works with, while it is executed here. */
  contextOf(task: TaskId): AgentContext | undefined {
    const execution = this.#executions.get(task)
    return execution && this.#contexts.get(execution)
  }

  all(): Execution[] {
    return [...this.#executions.values()]
  }

  /** Threads in which something is executed here. */
  threads(): Iterable<ThreadKey> {
    return this.#byThread.keys()
  }

  /** What is executed here in a thread. */
  inThread(thread: ThreadKey): readonly Execution[] {
    return [...(this.#byThread.get(thread) ?? [])]
  }

  /** Begins an attempt whose start is committed. Returns at once. */
  begin(record: TaskRecord, resumption?: Resumption): Execution {
    const version = record.agent === undefined ? undefined : this.#parts.agents.get(record.agent)?.version
    const versions = { recorded: record.version, current: version }
    const replay = resumption ? new Replay(resumption.steps, versions) : nothingRecorded
    const execution: Execution = new Execution(this.#parts, {
      record,
      output: resumption?.output ?? new PartsFold(),
      bag: resumption?.bag ?? nothingEmitted,
      steps: new Steps(record.id, record.attempt, new StepKeys(), replay),
      slot: new SlotHolder(
        this.#parts.slots,
        record.agent,
        record.crashes > 0 ? () => this.#rested(execution) : undefined,
      ),
    })
    this.#executions.set(record.id, execution)
    this.#byThread.set(record.key, (this.#byThread.get(record.key) ?? new Set()).add(execution))
    execution.onFailure((outcome) => void this.#finish(execution, outcome))
    execution.onLost(() => this.abandon(execution))
    this.#setDeadline(execution, record)
    if (record.cancelRequestedAt !== undefined) this.cancel(record.id)
    void this.#execute(execution)
    return execution
  }

  /** A cancel is committed: the task is told, once, and ended by force if it does not end. False if it is not here. */
  cancel(task: TaskId): boolean {
    const execution = this.#executions.get(task)
    if (!execution) return false
    if (this.#cancelled.has(execution)) return true
    this.#cancelled.add(execution)
    execution.stop('cancel')
    this.#afterGrace(execution, () => void this.#finish(execution, { status: 'cancelled', isForced: true }))
    return true
  }

  /** The time of a task stands still while one of its questions waits, and goes on after: this is its record since. */
  retime(record: TaskRecord): void {
    const execution = this.#executions.get(record.id)
    if (execution?.epoch === record.epoch && !execution.isClosed) this.#setDeadline(execution, record)
  }

  /** Fails a task for something that escaped its code. */
  fail(execution: Execution, thrown: unknown): void {
    execution.stop('failed')
    void this.#finish(execution, outcomeOf(thrown), thrown)
  }

  /**
   * Ends a task whose code lives in this process only, because the process goes. If it cannot be ended, the next one does that: to
   * be called again for whatever is left once all is written, because an end that the store refuses is tried for ever.
   */
  orphan(execution: Execution): void {
    if (this.#unended.has(execution)) return this.abandon(execution)
    execution.stop('handover')
    const message = 'The task was orphaned: its code was in a process that was closed'
    void this.#finish(execution, { status: 'failed', error: { code: 'orphaned', message } })
  }

  /** Forgets an execution without ending its task: it was handed over, or another node has it. */
  abandon(execution: Execution): void {
    execution.close()
    this.#forget(execution)
  }

  /** Resolves when nothing is executed. */
  async idle(): Promise<void> {
    while (this.#executions.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  async #execute(execution: Execution): Promise<void> {
    const { ambient, limits } = this.#parts
    const context = this.#parts.context(execution)
    this.#contexts.set(execution, context)
    const { record } = execution
    const schema = record.agent === undefined ? undefined : this.#parts.agents.get(record.agent)?.input
    const called = await callAgent({ execution, context, run: this.#codeOf(record), schema, ambient, limits })
    // Handed over or lost: this attempt has nothing more to say about the task.
    if (execution.stopKind === 'handover' || execution.stopKind === 'lost') return this.abandon(execution)
    const { mismatch } = execution.steps
    await this.#finish(execution, mismatch ? outcomeOf(mismatch) : called.outcome, called.thrown)
  }

  /** A task that crashed before only waits now: if it waits for people, that is as far as it can get. */
  #rested(execution: Execution): void {
    const { task, epoch } = execution
    const resting = this.#parts.writer.change(
      executing(execution, 'ask', (live, around) => restWhileAsking(live, around, task, epoch)),
    )
    resting.catch((error: unknown) => this.#parts.log.warn({ err: error, task }, 'a waiting task could not be noted'))
  }

  #codeOf({ id, agent }: TaskRecord): AgentFunction | undefined {
    const registered = agent === undefined ? undefined : this.#parts.agents.get(agent)
    return this.#parts.closures.take(id) ?? registered?.run.bind(registered)
  }

  /** E1: the first call counts. */
  async #finish(execution: Execution, outcome: Outcome, thrown?: unknown): Promise<void> {
    if (execution.isClosed) return
    const timely = execution.stopKind === 'timeout' ? timedOut(execution.record, isForced(outcome)) : outcome
    execution.close()
    try {
      const ended = await this.#end(execution, () => {
        // What it emitted before is on its way or lost by now, because it stands before this in the lane.
        return { outcome: execution.failure ?? timely, output: execution.finalOutput() }
      })
      this.#tellFailure(ended, thrown)
    } catch (error) {
      await this.#endUnstorable(execution, error)
    }
    this.#forget(execution)
  }

  /** The outcome itself cannot be stored: the task still ends, and says so, as soon as the store takes that. */
  async #endUnstorable(execution: Execution, error: unknown): Promise<void> {
    const outcome = thrownOutcome(new Error(`The outcome could not be stored: ${String(error)}`))
    const backOff = new BackOff()
    while (this.#executions.get(execution.task) === execution) {
      try {
        return this.#tellFailure(await this.#end(execution, () => ({ outcome, output: new PartsFold() })))
      } catch (second) {
        this.#parts.log.error({ err: second, task: execution.task }, 'a task cannot be ended; it is tried again')
      }
      this.#unended.add(execution)
      this.#cancelTimers(execution)
      await new Promise<void>((resolve) => this.#setTimer(execution, backOff.nextMs(), resolve))
    }
  }

  /** Answers the record of the task, if this is what ended it. */
  async #end(execution: Execution, ending: () => Ending): Promise<TaskRecord | undefined> {
    const { task, epoch } = execution
    const done = await this.#parts.writer.change(
      executing(execution, 'end', (live, around) => end(live, around, task, epoch, ending())),
    )
    return 'value' in done ? done.value : undefined
  }

  /** The text of its error is with the task; where in its code that was, only the log says. */
  #tellFailure(ended: TaskRecord | undefined, thrown?: unknown): void {
    if (ended?.status !== 'failed' || !ended.error) return
    const { id: task, agent, error } = ended
    this.#parts.log.warn(
      { task, agent, code: error.code, err: loggedError(thrown, error.message) },
      'a task has failed',
    )
  }

  #setDeadline(execution: Execution, record: TaskRecord): void {
    const { startedAt } = execution.record
    const deadline = deadlineOf({ ...record, ...(startedAt !== undefined && { startedAt }) })
    this.#deadlines.get(execution)?.cancel()
    this.#deadlines.delete(execution)
    if (deadline === undefined) return
    const leftMs = deadline - this.#parts.storeClock.now()
    const expire = () => {
      if (execution.stopKind) return
      execution.stop('timeout')
      this.#afterGrace(execution, () => void this.#finish(execution, timedOut(execution.record, true)))
    }
    this.#deadlines.set(execution, this.#parts.clock.setTimer(leftMs, expire))
  }

  #afterGrace(execution: Execution, then: () => void): void {
    this.#setTimer(execution, this.#parts.graceMs, then)
  }

  #setTimer(execution: Execution, afterMs: number, fire: () => void): void {
    const timer = this.#parts.clock.setTimer(afterMs, fire)
    this.#timers.set(execution, [...(this.#timers.get(execution) ?? []), timer])
  }

  #cancelTimers(execution: Execution): void {
    for (const timer of this.#timers.get(execution) ?? []) timer.cancel()
    this.#timers.delete(execution)
  }

  #forget(execution: Execution): void {
    this.#cancelTimers(execution)
    this.#deadlines.get(execution)?.cancel()
    this.#deadlines.delete(execution)
    if (this.#executions.get(execution.task) === execution) this.#executions.delete(execution.task)
    const inThread = this.#byThread.get(execution.thread)
    if (inThread?.delete(execution) && inThread.size === 0) this.#byThread.delete(execution.thread)
    if (this.#executions.size > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}
