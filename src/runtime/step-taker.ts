import { isHoldfastError } from '../core/errors.ts'
import type { JsonText } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { ReplayMismatch } from '../core/replay.ts'
import { builtInKey, encodeKey, type StepKind, type StepRecord } from '../core/step.ts'
import type { Ambient, Scope, StepScope } from './ambient.ts'
import { BackOff } from './back-off.ts'
import { type Clock, expiry, nextTurn } from './clock.ts'
import { digest } from './digest.ts'
import { encode } from './encode.ts'
import { closedError, type Execution } from './execution.ts'
import { answerOf, failureOf, isRecorded, type OpenStep } from './steps.ts'
import { unlessStopped } from './stop.ts'
import type { Writer } from './writer.ts'

export interface StepTakerParts {
  readonly execution: Execution
  readonly writer: Writer
  readonly ambient: Ambient
  readonly clock: Clock
  readonly limits: Limits
}

/** A kind of step with the key it is found by. */
export interface StepName {
  readonly kind: StepKind
  readonly key: string
  /** A digest of what the step is given, by which it is told from others of its key. */
  readonly input?: string
  /** Steps of its key are found by the order in which they are taken, though they are given something. */
  readonly isInOrder?: true
  /** The path of the step it belongs to, if that is not the one the code runs in. */
  readonly within?: string
}

/** Makes the value of a step that is not recorded yet. */
type Make<Value> = (step: OpenStep, outer: Scope | undefined) => Promise<Value>

/** The name of a step that Holdfast makes, told from others of its kind by what it is about. */
export function named(kind: StepKind, about?: string): StepName {
  return { kind, key: builtInKey(kind, about) }
}

/**
 * Takes the steps of one execution: answered from the record, or performed and recorded.
 *
 * K1 A step is recorded, in success and in failure, before its caller goes on; but for a failure that a stopped task meets,
 *    or that says nothing about the step, such as a store that is down.
 * K2 Nothing is recorded once the task is stopped for good elsewhere (hand-over, lost lease): the next attempt
 *    performs the step again.
 * K3 A step that is refused to a stopped task is refused in a later turn of the event loop: code that tries
 *    again and again keeps the loop from nobody.
 * K4 A mismatch ends the task where it shows: code that catches it neither goes on nor keeps the task alive.
 */
export class StepTaker {
  readonly #parts: StepTakerParts

  constructor(parts: StepTakerParts) {
    this.#parts = parts
  }

  /** The user's step: a function whose result is recorded. */
  function(key: string, fn: () => unknown, input?: unknown): Promise<unknown> {
    const what = { what: `The input of step ${key}`, bytesMax: Number.POSITIVE_INFINITY }
    const given = input === undefined ? {} : { input: digest(encode(input, what)) }
    const name = { kind: 'step', key: encodeKey(key), ...given } as const
    return this.take(name, (step, outer) => this.inside(step, outer, {}, fn))
  }

  /** Runs a function inside a step, in a scope of its own. */
  async inside(
    step: OpenStep,
    outer: Scope | undefined,
    lineage: Scope['lineage'],
    fn: () => unknown,
  ): Promise<unknown> {
    const { execution, ambient } = this.#parts
    const inner: StepScope = { path: step.path, insideCount: 0 }
    const slot = execution.slot.enter(inner, outer?.step)
    try {
      if (slot) await slot
      const { task, thread } = execution
      const scope = { task, thread, step: inner, lineage: { ...outer?.lineage, ...lineage } }
      return await ambient.run(scope, async () => await fn())
    } finally {
      execution.slot.leave(inner, outer?.step)
    }
  }

  /** Takes a step whose value is made by `make`; both are recorded together with what was emitted last. */
  async take(name: StepName, make: Make<unknown>): Promise<unknown> {
    return this.takeRaw(name, async (step, outer) => {
      const value = await make(step, outer)
      this.#parts.execution.steps.finish(step)
      const text = this.#encode(step, value)
      await this.record(step, text)
      return text === undefined ? undefined : (JSON.parse(text) as unknown)
    })
  }

  /** Takes a step that `make` records itself, in the unit that does what the step is about. */
  async takeRaw<Value>(name: StepName, make: Make<Value>): Promise<Value> {
    const { execution } = this.#parts
    if (execution.isClosed) {
      await nextTurn()
      throw closedError(execution)
    }
    try {
      return await this.#answered(name, make)
    } catch (error) {
      if (error instanceof ReplayMismatch) execution.mismatched(error)
      if (execution.signal.aborted) await nextTurn()
      throw error
    }
  }

  async #answered<Value>(name: StepName, make: Make<Value>): Promise<Value> {
    const { execution } = this.#parts
    const outer = this.#scope()
    const step = execution.steps.begin(name.within ?? outer?.step?.path, name)
    if (isRecorded(step)) return answerOf(step) as Value
    try {
      return await make(step, outer)
    } catch (error) {
      await this.#recordFailure(step, error)
      throw error
    } finally {
      execution.steps.close(step)
    }
  }

  async record(step: OpenStep, value: JsonText | undefined): Promise<void> {
    const { execution, writer } = this.#parts
    if (execution.isClosed) throw closedError(execution)
    await writer.record(execution, [this.recordOf(step, value)])
  }

  recordOf(step: OpenStep, value: JsonText | undefined): StepRecord {
    return this.#parts.execution.steps.record(step, value === undefined ? {} : { value })
  }

  /** Reads for the task, and again while the store is not available: no task fails for that. */
  async read<Value>(read: () => Promise<Value>): Promise<Value> {
    const backOff = new BackOff()
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (!isHoldfastError(error, 'store_unavailable') || this.#parts.execution.isClosed) throw error
      }
      await this.#pause(backOff.nextMs())
    }
  }

  /** Waits inside a step without holding a slot, until the promise settles, or the task is stopped or over. */
  wait<Value>(promise: Promise<Value>): Promise<Value> {
    const { execution } = this.#parts
    return execution.slot.wait(this.#scope()?.step, execution.unlessOver(promise))
  }

  async #pause(ms: number): Promise<void> {
    const timer = expiry(this.#parts.clock, ms)
    try {
      await unlessStopped(this.#parts.execution.signal, timer.expired)
    } finally {
      timer.cancel()
    }
  }

  #scope(): Scope | undefined {
    const scope = this.#parts.ambient.scope
    return scope?.task === this.#parts.execution.task ? scope : undefined
  }

  #encode(step: OpenStep, value: unknown): JsonText | undefined {
    if (value === undefined) return undefined
    return encode(value, { what: `The value of step ${step.path}`, bytesMax: this.#parts.limits.stepBytes })
  }

  async #recordFailure(step: OpenStep, error: unknown): Promise<void> {
    const { execution, writer } = this.#parts
    // K2; and a cancelled or failed task is never replayed, so there is nobody to tell.
    if (execution.isClosed || execution.signal.aborted || isPassing(error)) return
    execution.steps.fail(step)
    await writer.record(execution, [execution.steps.record(step, { failure: failureOf(error) })])
  }
}

/** Says nothing about the step itself: the same call may well succeed later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ReplayMismatch) return true
  return isHoldfastError(error, 'store_unavailable') || isHoldfastError(error, 'draining')
}
