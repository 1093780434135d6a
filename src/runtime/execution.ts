import { HoldfastError } from '../core/errors.ts'
import { type EventData, type EventDraft, type EventType, isTerminalEvent } from '../core/event.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { Limits } from '../core/limits.ts'
import { errorText, type Outcome } from '../core/outcome.ts'
import type { PartsFold } from '../core/parts.ts'
import type { ReplayMismatch } from '../core/replay.ts'
import type { EmitBag } from '../core/resume.ts'
import { addUsage, type TaskRecord, type Usage } from '../core/task.ts'
import type { Report } from '../core/unit.ts'
import { outcomeOf } from './agent-outcome.ts'
import type { Ambient } from './ambient.ts'
import { nextTurn } from './clock.ts'
import { encode } from './encode.ts'
import type { Author } from './entry.ts'
import type { Metrics } from './metrics.ts'
import { Room, unflushedBytesMax } from './room.ts'
import type { SlotHolder } from './slot-holder.ts'
import type { Steps } from './steps.ts'
import { StopError, type StopKind } from './stop.ts'
import type { Writer } from './writer.ts'

// What an event takes besides its data: its type, task, epoch, and its place in the lists.
const eventOverheadBytes = 64

const ready = Promise.resolve()

/** What an execution starts from: fresh, or what the earlier attempts left. */
export interface Beginning {
  readonly record: TaskRecord
  readonly output: PartsFold
  readonly bag: EmitBag
  readonly steps: Steps
  readonly slot: SlotHolder
}

export interface ExecutionParts {
  readonly writer: Writer
  readonly ambient: Ambient
  readonly metrics: Metrics
  readonly limits: Limits
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
  readonly #room: Room
  readonly #controller = new AbortController()
  readonly #output: PartsFold
  /** What rejects each wait that is under way. */
  readonly #waits = new Set<(reason: unknown) => void>()
  /** When waits of its end by themselves; of those that wait most have none. */
  #alarms: Set<{ readonly until: number }> | undefined
  #emitCount = 0
  #outputSeq: number
  #uncommitted: EventDraft[] = []
  #progress: number | undefined
  #usage: Usage | undefined
  #isClosed = false
  #hasEnded = false
  #stopKind: StopKind | undefined
  #failure: Outcome | undefined
  #onFailure: (outcome: Outcome) => void = () => {}
  #onLost: () => void = () => {}

  constructor(parts: ExecutionParts, beginning: Beginning) {
    this.#parts = parts
    this.record = beginning.record
    this.task = beginning.record.id
    this.epoch = beginning.record.epoch
    this.thread = beginning.record.key
    this.steps = beginning.steps
    this.slot = beginning.slot
    this.#bag = beginning.bag
    this.#room = new Room(parts.writer, this.thread)
    this.#output = beginning.output
    this.#outputSeq = beginning.record.seq
    this.#progress = beginning.record.progress
    this.#usage = beginning.record.usage
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The end of its task is committed. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** How often it has emitted something: who does so beside a wait does not only wait. */
  get emitCount(): number {
    return this.#emitCount
  }

  get stopKind(): StopKind | undefined {
    return this.#stopKind
  }

  /** Something it wrote is lost: it can end in no other way, even if that shows only after its code has returned. */
  get failure(): Outcome | undefined {
    return this.#failure
  }

  /** Called when the task must end for what it wrote, whatever its code does. */
  onFailure(listener: (outcome: Outcome) => void): void {
    this.#onFailure = listener
  }

  /** Called when another node has the task, or it has ended: this attempt is over. */
  onLost(listener: () => void): void {
    this.#onLost = listener
  }

  /**
   * Emits an event of the agent. Throws at once what the agent must mend; the promise resolves when there is room
   * for more.
   */
  emit<Type extends EventType>(type: Type, data: EventData[Type]): Promise<void> {
    const text = encode(data, { what: `The data of ${type}`, bytesMax: this.#parts.limits.eventBytes })
    if (this.#isClosed) {
      this.#parts.metrics.lateEmit()
      // Not at once: a loop that goes on emitting would keep the event loop from everybody else.
      return nextTurn()
    }
    this.#emitCount += 1
    const step = this.#stepPath()
    if (step === undefined && this.#bag.take(type, text)) return ready
    const { task, epoch } = this
    const draft: EventDraft =
      step === undefined ? { type, task, epoch, data: text } : { type, task, epoch, step, data: text }
    const report = this.#report(type, data)
    this.#uncommitted.push(draft)
    const bytes = text.length + eventOverheadBytes
    this.#room.take(bytes)
    this.#parts.writer.emit(this, draft, bytes, report)
    if (this.#room.isOverrun) this.#overflow()
    return this.#room.wait()
  }

  /** What is put out once all that was emitted by now is committed, but for what is known to be lost. */
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
    if (this.#isClosed) this.#hasEnded = events.some((event) => event.task === this.task && isTerminalEvent(event))
  }

  /** Fires the signal. The first reason stands. */
  stop(kind: StopKind): void {
    if (this.#stopKind) return
    this.#stopKind = kind
    this.slot.stop()
    this.#controller.abort(new StopError(kind))
    this.#endWaits(() => this.signal.reason)
  }

  /** X2. */
  close(): void {
    this.#isClosed = true
    this.#room.release()
    this.slot.close()
    this.#endWaits(() => closedError(this))
  }

  /** Waits for a promise, or until the task is stopped or over: what code left waiting then keeps no timer and no listener. */
  unlessOver<Value>(promise: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const after =
        <Settled>(settle: (settled: Settled) => void) =>
        (settled: Settled) => {
          this.#waits.delete(reject)
          settle(settled)
        }
      promise.then(after(resolve), after(reject))
      if (this.signal.aborted) return reject(this.signal.reason)
      if (this.#isClosed) return reject(closedError(this))
      this.#waits.add(reject)
    })
  }

  /** A wait of its ends at this instant of the store's clock, if nothing else ends it before. Returns what takes that back. */
  setAlarm(until: number): () => void {
    const alarm = { until }
    this.#alarms ??= new Set()
    this.#alarms.add(alarm)
    return () => void this.#alarms?.delete(alarm)
  }

  /** Whether it only waits, and no wait of its ends by itself before this instant. */
  isResting(until: number): boolean {
    // Its clean-up takes no slot.
    if (this.#stopKind) return false
    for (const alarm of this.#alarms ?? []) if (alarm.until < until) return false
    return this.slot.isResting
  }

  /** Its code does not do what its record says. The task fails for that at once, whatever the code makes of it. */
  mismatched(mismatch: ReplayMismatch): void {
    this.#fail(outcomeOf(mismatch))
  }

  flushed(bytes: number): void {
    this.#room.give(bytes)
  }

  fenced(): void {
    this.stop('lost')
    this.#onLost()
  }

  unstorable(error: unknown, events: readonly EventDraft[]): void {
    const lost = new Set(events)
    this.#uncommitted = this.#uncommitted.filter((event) => !lost.has(event))
    const message = `The store refused a write: ${errorText(error)}`
    this.#failure ??= { status: 'failed', error: { code: 'agent_error', message } }
    this.#fail(this.#failure)
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

  #endWaits(reason: () => unknown): void {
    for (const reject of this.#waits) reject(reason())
    this.#waits.clear()
  }

  #fail(outcome: Outcome): void {
    this.stop('failed')
    this.#onFailure(outcome)
  }
}

/** The error that a closed execution answers with to whatever its code still asks for. */
export function closedError(execution: Execution): HoldfastError {
  return new HoldfastError('task_terminated', `${execution.task} has ended, or is executed elsewhere`)
}
