import { isHoldfastError } from '../core/errors.ts'
import { release } from '../core/recover.ts'
import type { Store } from '../stores/store.ts'
import { type Clock, expiry, type Timer } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import { executing } from './entry.ts'
import type { Execution } from './execution.ts'
import type { Executor } from './executor.ts'
import type { Hooks } from './hooks.ts'
import type { Lease } from './lease.ts'
import type { Logger } from './logger.ts'
import type { OtherNodes } from './other-nodes.ts'
import type { Questions } from './questions.ts'
import type { Recovery } from './recovery.ts'
import type { RetentionKeeper } from './retention.ts'
import { whenSteadily } from './steadily.ts'
import type { Strays } from './strays.ts'
import { Tries } from './tries.ts'
import type { Writer } from './writer.ts'

export interface SupervisorParts {
  readonly store: Pick<Store, 'clock'>
  readonly writer: Writer
  readonly executor: Executor
  readonly dispatcher: Dispatcher
  readonly recovery: Pick<Recovery, 'handOver'>
  readonly strays: Strays
  readonly questions: Questions
  readonly retention: RetentionKeeper
  readonly hooks: Hooks
  /** Where there may be some. */
  readonly others: OtherNodes | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly lease: Lease
}

// How late a task may start, and what another node wrote be heard of, if every hint is lost.
const pollMs = 1_000
// What is to go has been there for long: nobody minds a minute more.
const retentionMs = 60_000

/**
 * Keeps the node's lease, looks for work that no hint told of, applies the retention, and hands over what runs when the
 * node closes.
 */
export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #tries: Tries
  readonly #timers = new Map<string, Timer>()
  #isOpen = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#tries = new Tries(parts.log)
  }

  /** Whether this node may soon be taken for gone. */
  get isDoubted(): boolean {
    return this.#parts.lease.isDoubted
  }

  async open(): Promise<void> {
    const { lease, writer, others, dispatcher, retention } = this.#parts
    this.#isOpen = true
    await lease.open({ onLapsed: () => others?.poll(), onAway: () => writer.doubt() })
    // Before anything can be accepted: what earlier lives of the node left open counts.
    await dispatcher.count()
    this.#pollAll()
    if (retention.hasPolicy) this.#every('retention', retentionMs, () => retention.apply())
    dispatcher.open()
  }

  /**
   * Lets what runs finish, for at most `drainMs`, and for less where all that is left only waits; then hands the rest over: its
   * signal fires, nothing more is written for it, and the next node to look goes on with it. A function of this process cannot be
   * handed over, and ends. If the store is down when the time is over, what is not written is given up: the next start finds the
   * tasks as after a crash.
   */
  async close(drainMs: number): Promise<void> {
    const { lease, executor, strays, hooks, clock, writer, log } = this.#parts
    strays.close()
    log.info({ executing: executor.count, drainMs }, 'draining')
    const drain = drainMs > 0 ? expiry(clock, drainMs) : undefined
    const timeUp = drain?.expired ?? Promise.resolve()
    await Promise.race([this.#handOverAll(timeUp, drainMs), timeUp.then(() => writer.down())])
    drain?.cancel()
    hooks.abandon()
    for (const execution of executor.all()) executor.abandon(execution)
    this.#isOpen = false
    for (const timer of this.#timers.values()) timer.cancel()
    await lease.close()
    log.info({}, 'drained')
  }

  async #handOverAll(timeUp: Promise<void>, drainMs: number): Promise<void> {
    const { executor, dispatcher, recovery, retention, writer, hooks } = this.#parts
    // What is left of a round goes on at the next start, and a takeover that reads for long is given up, so neither is waited for any
    // longer than a task.
    await Promise.race([Promise.all([dispatcher.close(), retention.close()]), timeUp])
    // Beside what is executed: a takeover may be in a thread that another program holds.
    const givenUp = recovery.handOver()
    if (executor.count > 0) await this.#finished(timeUp, drainMs)
    // What was accepted just before may begin only now, when its commit is made.
    do {
      await Promise.all(executor.all().map((execution) => this.#handOver(execution)))
      await writer.settled()
    } while (executor.count > 0)
    await givenUp
    await hooks.close(timeUp)
  }

  /**
   * Resolves when nothing is executed, or the time is up, or all that is left waits for something that does not come by itself
   * within that time: on another node it waits just as well. A function of this process cannot, so its end is waited for.
   */
  async #finished(timeUp: Promise<void>, drainMs: number): Promise<void> {
    const { executor, clock, store } = this.#parts
    const until = store.clock.now() + drainMs
    const isResting = (execution: Execution) => !execution.record.closure && execution.isResting(until)
    let emitCount = -1
    const waiting = whenSteadily(clock, () => {
      const before = emitCount
      emitCount = executor.all().reduce((sum, execution) => sum + execution.emitCount, 0)
      return emitCount === before && executor.all().every(isResting)
    })
    await Promise.race([executor.idle(), timeUp, waiting.seen])
    waiting.cancel()
  }

  async #handOver(execution: Execution): Promise<void> {
    const { executor, writer, log } = this.#parts
    const { task, epoch } = execution
    if (execution.record.closure) return executor.orphan(execution)
    // In this order, so that what its code does about the signal is not written any more.
    executor.abandon(execution)
    execution.stop('handover')
    const releasing = writer.change(
      executing(execution, 'release', (live, around) =>
        release(live, around, task, epoch, execution.steps.hasRecorded),
      ),
    )
    try {
      const done = await releasing
      if ('value' in done && done.value) log.info({ task }, 'a task is handed over')
    } catch (error) {
      // Whoever finds it takes it for one that crashed. All else is handed over, and the lease given up.
      log.warn({ err: error, task }, 'a task could not be handed over')
    }
  }

  /** Each by itself, so that none waits for another: to count much takes long, and what is read for users may wait for users. */
  #pollAll(): void {
    const { dispatcher, hooks, strays, questions, others, lease } = this.#parts
    this.#every('work', pollMs, async () => {
      dispatcher.poke()
      hooks.poke()
    })
    this.#every('count', pollMs, () => dispatcher.count())
    this.#every('tasks that were lost', lease.renewMs, () => strays.check())
    this.#every('questions', pollMs, () => questions.expireDue())
    if (!others) return
    this.#every('other nodes', pollMs, () => others.poll())
    this.#every('firehoses', pollMs, () => others.pollFirehoses())
  }

  #every(name: string, periodMs: number, act: () => Promise<void>): void {
    const fire = async () => {
      const failure = await this.#tries.make(`the ${name} could not be seen to; tried again every ${periodMs} ms`, act)
      // A node with nothing to write would not notice that the store is down.
      if (isHoldfastError(failure?.error, 'store_unavailable')) this.#parts.writer.doubt()
      if (this.#isOpen) this.#every(name, periodMs, act)
    }
    this.#timers.set(
      name,
      this.#parts.clock.setTimer(periodMs, () => void fire()),
    )
  }
}
