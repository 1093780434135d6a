import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import type { JsonText, TaskId } from '../core/id.ts'
import { errorText } from '../core/outcome.ts'
import type { Replay } from '../core/replay.ts'
import { contains, type StepFailure, type StepKeys, type StepKind, type StepRecord } from '../core/step.ts'

/** A step that is being taken. */
export interface OpenStep {
  readonly path: string
  readonly kind: StepKind
  readonly input?: string
  isOverlapped: boolean
}

export type StepEnd = { readonly value?: JsonText } | { readonly failure: StepFailure }

/**
 * The steps of one execution: gives each its key, answers from the record what is recorded, and notes which were open at the
 * same time, because a replay of steps that never overlapped is checked more strictly.
 */
export class Steps {
  readonly #task: TaskId
  readonly #attempt: number
  readonly #keys: StepKeys
  readonly #replay: Replay
  readonly #open = new Set<OpenStep>()

  constructor(task: TaskId, attempt: number, keys: StepKeys, replay: Replay) {
    this.#task = task
    this.#attempt = attempt
    this.#keys = keys
    this.#replay = replay
  }

  /** Begins a step: its record if it has one, else the step to be taken and closed. Throws on a replay mismatch. */
  begin(scope: string | undefined, kind: StepKind, key: string, input?: string): StepRecord | OpenStep {
    const path = this.#keys.take(scope, key)
    const recorded = this.#replay.ask(path, kind, input)
    if (recorded) return recorded
    const step: OpenStep = { path, kind, ...(input !== undefined && { input }), isOverlapped: false }
    for (const other of this.#open) {
      if (contains(other.path, path)) continue
      other.isOverlapped = true
      step.isOverlapped = true
    }
    this.#open.add(step)
    return step
  }

  close(step: OpenStep): void {
    this.#open.delete(step)
  }

  /** The record of a step that has ended. */
  record(step: OpenStep, end: StepEnd): StepRecord {
    return {
      task: this.#task,
      key: step.path,
      kind: step.kind,
      ...(step.input !== undefined && { input: step.input }),
      ...end,
      attempt: this.#attempt,
      overlapped: step.isOverlapped,
      seq: 0,
    }
  }

  /**
   * Throws if recorded steps were never asked for: those inside a step that has returned, or all once the agent
   * has. Called before the record is made, because a recorded step answers for all inside it.
   */
  finish(step?: OpenStep): void {
    this.#replay.finish(step?.path)
  }

  /** The same for a step that threw: what it would have asked for next is not known. */
  fail(step: OpenStep): void {
    this.#replay.fail(step.path)
  }
}

export function isRecorded(step: StepRecord | OpenStep): step is StepRecord {
  return 'seq' in step
}

/** What a recorded step gave, or the failure it met, thrown again. */
export function answerOf(record: StepRecord): unknown {
  if (record.failure) throw failureError(record.failure)
  return record.value === undefined ? undefined : (JSON.parse(record.value) as unknown)
}

export function failureOf(error: unknown): StepFailure {
  const name = error instanceof Error ? error.name : 'Error'
  return { name, message: errorText(error), ...(isHoldfastError(error) && { code: error.code }) }
}

function failureError(failure: StepFailure): Error {
  if (failure.name === 'HoldfastError' && failure.code !== undefined) {
    return new HoldfastError(failure.code as HoldfastError['code'], failure.message)
  }
  return Object.assign(new Error(failure.message), { name: failure.name })
}
