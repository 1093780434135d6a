import { HoldfastError } from '../core/errors.ts'
import type { JsonText, TaskId } from '../core/id.ts'
import { errorText } from '../core/outcome.ts'
import type { Replay, ReplayMismatch } from '../core/replay.ts'
import { contains, type StepFailure, type StepKeys, type StepKind, type StepRecord } from '../core/step.ts'

/** A step that is being taken. */
export interface OpenStep {
  readonly path: string
  readonly kind: StepKind
  readonly input?: string
  isOverlapped: boolean
}

/** What a step is found by. */
interface StepToTake {
  readonly kind: StepKind
  readonly key: string
  readonly input?: string
  readonly isInOrder?: true
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
  #hasRecorded = false

  constructor(task: TaskId, attempt: number, keys: StepKeys, replay: Replay) {
    this.#task = task
    this.#attempt = attempt
    this.#keys = keys
    this.#replay = replay
  }

  /** Whether this attempt has got any further than the ones before it. */
  get hasRecorded(): boolean {
    return this.#hasRecorded
  }

  get mismatch(): ReplayMismatch | undefined {
    return this.#replay.mismatch
  }

  /** Begins a step: its record if it has one, else the step to be taken and closed. Throws on a replay mismatch. */
  begin(scope: string | undefined, name: StepToTake): StepRecord | OpenStep {
    const { kind, input } = name
    const path = this.#path(scope, name)
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

  #path(scope: string | undefined, { kind, key, input, isInOrder }: StepToTake): string {
    // A function's key is the user's to choose, so what it was given is checked and never looked for.
    if (input === undefined || kind === 'step' || isInOrder) return this.#keys.take(scope, key)
    const alike = (base: string) => this.#replay.alike(base, kind, input)
    return this.#keys.take(scope, key, alike, (path) => this.#replay.isFree(path, kind))
  }

  close(step: OpenStep): void {
    this.#open.delete(step)
  }

  /** The record of a step that has ended. */
  record(step: OpenStep, end: StepEnd): StepRecord {
    this.#hasRecorded = true
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

/** What of a failure is met again on replay: its name, message and code, by which code tells errors apart. */
export function failureOf(error: unknown): StepFailure {
  const message = errorText(error)
  try {
    if (!(error instanceof Error)) return { name: 'Error', message }
    const { name, code } = error as Error & { readonly code?: unknown }
    return { name: String(name), message, ...(typeof code === 'string' && { code }) }
  } catch {
    // It throws when it is looked at, and is recorded all the same.
    return { name: 'Error', message }
  }
}

function failureError(failure: StepFailure): Error {
  if (failure.name === 'HoldfastError' && failure.code !== undefined) {
    return new HoldfastError(failure.code as HoldfastError['code'], failure.message)
  }
  const { name, message, code } = failure
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
}
