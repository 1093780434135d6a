import { isHoldfastError } from '../core/errors.ts'
import { release } from '../core/recover.ts'
import type { Store } from '../stores/store.ts'
import { type Clock, expiry, type Timer } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import { executing } from './entry.ts'
import type { Execution } from './execution.ts'
import type { Executor } from './executor.ts'
import type { Hooks } from './hooks.ts'
import type { Logger } from './logger.ts'
import type { OtherNodes } from './other-nodes.ts'
import type { Questions } from './questions.ts'
import type { RetentionKeeper } from './retention.ts'
import type { Writer } from './writer.ts'

export interface SupervisorParts {
  readonly store: Store
  readonly writer: Writer
  readonly executor: Executor
  readonly dispatcher: Dispatcher
  readonly questions: Questions
  readonly retention: RetentionKeeper
  readonly hooks: Hooks
  /** Where there may be some. */
  readonly others: OtherNodes | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly node: string
  readonly leaseMs: number
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
  readonly #timers = new Map<string, Timer>()
  #isOpen = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
  }

  async open(): Promise<void> {
    const { store, node, leaseMs, dispatcher, retention } = this.#parts
    this.#isOpen = true
    await store.renew(node, leaseMs)
    // Before anything can be accepted: what earlier lives of the node left open counts.
    await dispatcher.count()
    this.#every('lease', leaseMs / 3, () => this.#renew())
    this.#every('poll', pollMs, () => this.#poll())
    if (retention.hasPolicy) this.#every('retention', retentionMs, () => retention.apply())
    dispatcher.open()
  }

  /**
   * Lets what runs finish, for at most `drainMs`, then hands the rest over: its signal fires, nothing more is written for
   * it, and the next node to look goes on with it. A function of this process cannot be handed over, and ends. If the store is
   * down when the time is over, what is not written is given up: the next start finds the tasks as after a crash.
   */
  async close(drainMs: number): Promise<void> {
    const { store, node, log, executor, retention, hooks, clock, writer } = this.#parts
    await retention.close()
    const drain = drainMs > 0 ? expiry(clock, drainMs) : undefined
    const timeUp = drain?.expired ?? Promise.resolve()
    await Promise.race([this.#handOverAll(timeUp), timeUp.then(() => writer.down())])
    drain?.cancel()
    hooks.abandon()
    for (const execution of executor.all()) executor.abandon(execution)
    this.#isOpen = false
    for (const timer of this.#timers.values()) timer.cancel()
    await store.renew(node, 0).catch((error: unknown) => log.warn({ err: error }, 'the lease could not be given up'))
  }

  async #handOverAll(timeUp: Promise<void>): Promise<void> {
    const { executor, dispatcher, writer, hooks } = this.#parts
    await dispatcher.close()
    if (executor.count > 0) await Promise.race([executor.idle(), timeUp])
    // What was accepted just before may begin only now, when its commit is made.
    do {
      await Promise.all(executor.all().map((execution) => this.#handOver(execution)))
      await writer.settled()
    } while (executor.count > 0)
    await hooks.close(timeUp)
  }

  async #handOver(execution: Execution): Promise<void> {
    const { executor, writer } = this.#parts
    const { task, epoch } = execution
    if (execution.record.closure) return executor.orphan(execution)
    // In this order, so that what its code does about the signal is not written any more.
    executor.abandon(execution)
    execution.stop('handover')
    await writer.change(
      executing(execution, 'release', (live, around) =>
        release(live, around, task, epoch, execution.steps.hasRecorded),
      ),
    )
  }

  async #renew(): Promise<void> {
    const { store, node, leaseMs, log, others } = this.#parts
    const { wasHeld } = await store.renew(node, leaseMs)
    if (wasHeld) return
    log.warn({ node }, 'the lease had run out; what others took over is lost to this node')
    await others?.poll()
  }

  async #poll(): Promise<void> {
    const { dispatcher, hooks, questions, others } = this.#parts
    dispatcher.poke()
    hooks.poke()
    await Promise.all([dispatcher.count(), questions.expireDue(), others?.poll()])
  }

  #every(name: string, periodMs: number, act: () => Promise<void>): void {
    const fire = async () => {
      try {
        await act()
      } catch (error) {
        this.#parts.log.warn({ err: error }, `the ${name} could not be seen to; tried again in ${periodMs} ms`)
        // A node with nothing to write would not notice that the store is down.
        if (isHoldfastError(error, 'store_unavailable')) this.#parts.writer.doubt()
      }
      if (this.#isOpen) this.#every(name, periodMs, act)
    }
    this.#timers.set(
      name,
      this.#parts.clock.setTimer(periodMs, () => void fire()),
    )
  }
}
