import { HoldfastError } from '../core/errors.ts'
import type { EventData, EventDraft, EventType } from '../core/event.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import type { Outcome } from '../core/outcome.ts'
import type { PartsFold } from '../core/parts.ts'
import type { EmitBag } from '../core/resume.ts'
import type { TaskRecord, Usage } from '../core/task.ts'
import type { Ambient } from './ambient.ts'
import { encode } from './encode.ts'
import type { Author, Report } from './entry.ts'
import type { Metrics } from './metrics.ts'
import type { SlotHolder } from './slot-holder.ts'
import type { Steps } from './steps.ts'
import { StopError, type StopKind } from './stop.ts'
import type { Writer } from './writer.ts'

// A task that waits for room stops here, so memory is bounded by the tasks that do not wait.
const roomBytes = 256 * 1024
// More than this unflushed is a task that floods and never waits for room.
const unflushedBytesMax = 8 * 1024 * 1024
// What an event takes besides its data: its type, task, epoch, and its place in the lists.
const eventOverheadBytes = 64

const ready = Promise.resolve()

/** What an execution starts from: fresh, or what the earlier attempts left. */
export interface Beginning {
  readonly record: TaskRecord
  readonly output: PartsFold
  readonly bag: EmitBag
  readonly steps: Steps
}

export interface ExecutionParts {
  readonly writer: Writer
  readonly ambient: Ambient
  readonly metrics: Metrics
  readonly limits: Limits
  readonly slot: SlotHolder
}

/**
 * One attempt at a task on this node: what it writes, and how it is told to stop. Its neighbour the executor calls
 * the agent and ends the task.
 *
 * X1 Every write carries the epoch. Once one is refused nothing more is written.
 * X2 After `close` nothing is written; what is emitted then is dropped and counted.
 * X3 `output` is the fold of what is committed, so that nobody is shown what could still be lost.
 */
export class Execution implements Author {
  readonly task: TaskId
  readonly epoch: number
  readonly thread: ThreadKey
  readonly record: TaskRecord
  readonly steps: Steps
  readonly slot: SlotHolder
  readonly #parts: ExecutionParts
  readonly #bag: EmitBag
  readonly #controller = new AbortController()
  readonly #output: PartsFold
  #outputSeq = 0
  #uncommitted: EventDraft[] = []
  #unflushedBytes = 0
  #roomWaiters: (() => void)[] = []
  #progress: number | undefined
  #usage: Usage | undefined
  #isClosed = false
  #stopKind: StopKind | undefined
  #onFailure: (outcome: Outcome) => void = () => {}

  constructor(parts: ExecutionParts, beginning: Beginning) {
    this.#parts = parts
    this.record = beginning.record
    this.task = beginning.record.id
    this.epoch = beginning.record.epoch
    this.thread = beginning.record.key
    this.steps = beginning.steps
    this.slot = parts.slot
    this.#bag = beginning.bag
    this.#output = beginning.output
    this.#progress = beginning.record.progress
    this.#usage = beginning.record.usage
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get stopKind(): StopKind | undefined {
    return this.#stopKind
  }

  /** Called when the task must end for what it wrote, whatever its code does. */
  onFailure(listener: (outcome: Outcome) => void): void {
    this.#onFailure = listener
  }

  /**
   * Emits an event of the agent. Throws at once what the agent must mend; the promise resolves when there is room
   * for more.
   */
  emit<Type extends EventType>(type: Type, data: EventData[Type]): Promise<void> {
    const text = encode(data, { what: `The data of ${type}`, bytesMax: this.#parts.limits.eventBytes })
    if (this.#isClosed) {
      this.#parts.metrics.lateEmit()
      return ready
    }
    const step = this.#stepPath()
    if (step === undefined && this.#bag.take(type, text)) return ready
    const draft: EventDraft = {
      type,
      task: this.task,
      epoch: this.epoch,
      ...(step !== undefined && { step }),
      data: text,
    }
    this.#uncommitted.push(draft)
    const bytes = text.length + eventOverheadBytes
    this.#unflushedBytes += bytes
    this.#parts.writer.emit(this, draft, bytes, this.#report(type, data))
    if (this.#unflushedBytes > unflushedBytesMax) this.#overflow()
    return this.#room()
  }

  /** What is put out once all that was emitted by now is committed. */
  finalOutput(): PartsFold {
    const output = this.#output.clone()
    for (const event of this.#uncommitted) output.add(event)
    return output
  }

  /** What is put out and committed, and the number of the last event in it. */
  committedOutput(): { readonly output: PartsFold; readonly seq: number } {
    return { output: this.#output.clone(), seq: this.#outputSeq }
  }

  /** Events of this task were committed. */
  committed(events: readonly EventDraft[], lastSeq: number): void {
    let count = 0
    for (const event of events) {
      if (event.task !== this.task) continue
      this.#output.add(event)
      if (event === this.#uncommitted[count]) count += 1
    }
    this.#uncommitted.splice(0, count)
    this.#outputSeq = lastSeq
  }

  /** Fires the signal. The first reason stands. */
  stop(kind: StopKind): void {
    if (this.#stopKind) return
    this.#stopKind = kind
    this.#controller.abort(new StopError(kind))
  }

  /** X2. */
  close(): void {
    this.#isClosed = true
    this.#releaseRoom()
    this.slot.close()
  }

  flushed(bytes: number): void {
    this.#unflushedBytes -= bytes
    if (this.#unflushedBytes < roomBytes) this.#releaseRoom()
  }

  fenced(): void {
    this.stop('lost')
    this.close()
  }

  unstorable(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#fail({ status: 'failed', error: { code: 'agent_error', message: `The store refused a write: ${message}` } })
  }

  #stepPath(): string | undefined {
    const scope = this.#parts.ambient.scope
    return scope?.task === this.task ? scope.step?.path : undefined
  }

  #report(type: EventType, data: object): Report | undefined {
    if (type === 'progress') this.#progress = (data as EventData['progress']).value
    else if (type === 'usage') this.#usage = addUsage(this.#usage, data as Usage)
    else return undefined
    return {
      ...(this.#progress !== undefined && { progress: this.#progress }),
      ...(this.#usage && { usage: this.#usage }),
    }
  }

  #overflow(): void {
    const message = `More than ${unflushedBytesMax} bytes were emitted without waiting for room; await emit`
    this.#fail({ status: 'failed', error: { code: 'emit_overflow', message } })
  }

  #fail(outcome: Outcome): void {
    this.stop('failed')
    this.#onFailure(outcome)
  }

  #room(): Promise<void> {
    if (this.#unflushedBytes < roomBytes) return ready
    return new Promise((resolve) => this.#roomWaiters.push(resolve))
  }

  #releaseRoom(): void {
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
  }
}

/** Sums what was used, field by field. */
export function addUsage(sum: Usage | undefined, more: Usage): Usage {
  const total: Record<string, number> = { ...sum }
  for (const [field, count] of Object.entries(more)) total[field] = (total[field] ?? 0) + count
  return total
}

/** The error that a closed execution answers with to whatever its code still asks for. */
export function closedError(execution: Execution): HoldfastError {
  return new HoldfastError('task_terminated', `${execution.task} has ended, or is executed elsewhere`)
}
