import type { Decision, Surroundings } from '../core/decision.ts'
import type { EventDraft } from '../core/event.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { LiveThread } from '../core/live-thread.ts'
import type { StepRecord } from '../core/step.ts'
import type { Committed, Operation, Refusal, Report, Unit } from '../core/unit.ts'
import type { Lanes } from './lanes.ts'

/** An execution of a task, as the writer knows it. */
export interface Author {
  readonly task: TaskId
  readonly epoch: number
  readonly thread: ThreadKey
  /** So many bytes that it emitted are committed. */
  flushed(bytes: number): void
  /** A write was refused: the task ended, or is executed under another epoch. Nothing it writes counts any more. */
  fenced(): void
  /** A write of its own cannot be stored, whoever stores it; these events of it are lost. */
  unstorable(error: unknown, events: readonly EventDraft[]): void
}

/** A structural change: decided when a batch is built, and again if the thread has changed by then. */
export interface Change<Value> {
  readonly lane: string
  readonly thread: ThreadKey
  readonly operation: Operation
  /** Asked for by somebody who can ask again: refused instead of retried while the store is down. */
  readonly isIntent: boolean
  decide(live: LiveThread, around: Surroundings): Decision<Value>
}

/** A change that a caller asks of a thread. */
export function intent<Value>(thread: ThreadKey, operation: Operation, decide: Change<Value>['decide']): Change<Value> {
  return { lane: thread, thread, operation, isIntent: true, decide }
}

/** A change that an execution makes. It stands in the lane of its task, behind all that the execution wrote before. */
export function executing<Value>(
  { task, thread }: Pick<Author, 'task' | 'thread'>,
  operation: Operation,
  decide: Change<Value>['decide'],
): Change<Value> {
  return { lane: task, thread, operation, isIntent: false, decide }
}

/** What became of a change. `unit` and `verdict` are absent if there was nothing to commit. */
export type Done<Value> =
  | { readonly value: Value; readonly unit?: Unit; readonly verdict?: Committed }
  | { readonly refusal: Refusal }

export interface ChangeEntry {
  readonly kind: 'change'
  readonly change: Change<unknown>
  /** The moment at which it was asked for. */
  readonly askedAt: number
  /** It stood alone with new ids and was refused: the next refusal is the last. */
  hasSpentIds?: boolean
  bytes: number
  resolve(done: Done<unknown>): void
  reject(error: unknown): void
}

export interface EmitEntry {
  readonly kind: 'emit'
  readonly author: Author
  readonly events: EventDraft[]
  report: Report | undefined
  bytes: number
}

export interface StepEntry {
  readonly kind: 'step'
  readonly author: Author
  readonly events: readonly EventDraft[]
  readonly report: Report | undefined
  readonly steps: readonly StepRecord[]
  /** What of its bytes the task had emitted, and waits to hear of. */
  readonly emittedBytes: number
  bytes: number
  resolve(): void
  reject(error: unknown): void
}

/** What waits in the writer's lanes. */
export type Entry = ChangeEntry | EmitEntry | StepEntry

/** What records steps, and what was emitted before them and goes along. */
export function recording(
  author: Author,
  steps: readonly StepRecord[],
  emits: Entry | undefined,
): Omit<StepEntry, 'resolve' | 'reject'> {
  const { events, report, bytes } = emits?.kind === 'emit' ? emits : { events: [], report: undefined, bytes: 0 }
  const size = steps.reduce((sum, step) => sum + (step.value?.length ?? 0), 256)
  return { kind: 'step', author, events, report, steps, emittedBytes: bytes, bytes: bytes + size }
}

/** To the head of each lane, in the order in which they were there. */
export function putBack(lanes: Lanes<Entry>, entries: readonly Entry[]): void {
  for (const [lane, group] of Map.groupBy(entries, laneOf)) lanes.putBack(lane, group)
}

function laneOf(entry: Entry): string {
  return entry.kind === 'change' ? entry.change.lane : entry.author.task
}

/** The thread that it writes to. */
export function keyOf(entry: Entry): ThreadKey {
  return entry.kind === 'change' ? entry.change.thread : entry.author.thread
}

export function isIntent(entry: Entry): entry is ChangeEntry {
  return entry.kind === 'change' && entry.change.isIntent
}

/** Whether all that waits are ends that executions came to by themselves. */
export function isEndsOnly(entries: Iterable<Entry>): boolean {
  for (const entry of entries) {
    if (entry.kind !== 'change' || entry.change.isIntent || entry.change.operation !== 'end') return false
  }
  return true
}
