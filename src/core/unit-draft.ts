import type { Surroundings } from './decision.ts'
import { invariant } from './errors.ts'
import type { EventData, EventDraft, EventType } from './event.ts'
import { type HookPut, owing } from './hook.ts'
import { type TaskId, threadOf } from './id.ts'
import { inputBytesOf, inRunningOrder, type LiveThread } from './live-thread.ts'
import type { Message } from './message.ts'
import { encodeWithin, type Omission } from './omission.ts'
import type { QuestionRecord } from './question.ts'
import { canBecome, isTerminal } from './status.ts'
import type { StepRecord } from './step.ts'
import { isRun, type TaskRecord } from './task.ts'
import type {
  Fence,
  IdempotencyKey,
  Mail,
  MessagePut,
  Operation,
  QuestionPut,
  Report,
  Stamp,
  TaskPut,
  Unit,
} from './unit.ts'

/**
 * A structural unit in the making. Several rules add to one unit (an end cancels children, promotes a run, wakes
 * the thread), so each sees what the ones before it have changed.
 */
export class UnitDraft {
  readonly live: LiveThread
  readonly around: Surroundings
  readonly #operation: Operation
  readonly #fence: Fence | undefined
  readonly #events: EventDraft[] = []
  readonly #puts = new Map<TaskId, TaskPut>()
  readonly #messages: MessagePut[] = []
  readonly #mail: Mail[] = []
  readonly #read: string[] = []
  readonly #questions = new Map<string, QuestionPut>()
  readonly #take: TaskId[] = []
  readonly #steps: StepRecord[] = []
  readonly #forget: TaskId[] = []
  readonly #hooks: HookPut[] = []
  #key: IdempotencyKey | undefined
  #wakes: number | undefined
  #lapsed: string | undefined
  #erase: true | undefined

  constructor(live: LiveThread, around: Surroundings, operation: Operation, fence?: Fence) {
    this.live = live
    this.around = around
    this.#operation = operation
    this.#fence = fence
  }

  /** The task as it will be once the draft is committed; ended ones only if they end in it. */
  task(id: TaskId): TaskRecord | undefined {
    return this.#puts.get(id)?.record ?? this.live.task(id)
  }

  /** Live tasks, and those this draft adds or ends, as they will be. */
  *tasks(): Generator<TaskRecord> {
    for (const record of this.live.tasks()) yield this.task(record.id) ?? record
    for (const put of this.#puts.values()) if (put.isNew) yield put.record
  }

  /** Runs that will be live, in the order in which they run. */
  runs(): TaskRecord[] {
    const added = [...this.#puts.values()].filter((put) => put.isNew && isRun(put.record)).map((put) => put.record)
    const kept = this.live.runs().map((run) => this.task(run.id) ?? run)
    return inRunningOrder([...kept, ...added].filter((run) => !isTerminal(run.status)))
  }

  /** Tasks that end in this draft. */
  endedHere(): TaskRecord[] {
    const isEnding = ({ record, isNew }: TaskPut) => isTerminal(record.status) && (isNew || this.live.task(record.id))
    return [...this.#puts.values()].filter(isEnding).map((put) => put.record)
  }

  /** Ended tasks whose result somebody may yet take, as they will be. */
  ended(): TaskRecord[] {
    const earlier = [...this.live.ended()].map((record) => this.#puts.get(record.id)?.record ?? record)
    return [...earlier, ...this.endedHere()].filter((record) => !this.#take.includes(record.id))
  }

  /** Further ends that nobody took, if they were read. */
  untaken(): TaskRecord[] {
    return [...this.live.untaken()].filter((record) => !this.#take.includes(record.id))
  }

  /** What the tasks that will be live were given, and the prompts that steer them, which become runs if nobody reads them. */
  get inputBytes(): number {
    const ended = this.endedHere().reduce((sum, record) => sum + inputBytesOf(record), 0)
    const mail = this.live.runs().flatMap((run) => [...this.live.mailOf(run.id)])
    const steering = mail.filter(({ id, steer }) => steer !== undefined && !this.isRead(id))
    return steering.reduce((sum, { steer }) => sum + inputBytesOf({ input: steer }), this.live.inputBytes - ended)
  }

  isRead(mail: string): boolean {
    return this.#read.includes(mail)
  }

  get isEmpty(): boolean {
    return this.#puts.size === 0 && this.#events.length === 0 && this.#read.length === 0
  }

  get wakes(): number {
    return this.#wakes ?? this.live.wakes
  }

  /** Never back to what it was: a prompt, which sets it to 0, leaves a live run, and then nothing is woken by that unit. */
  set wakes(count: number) {
    this.#wakes = count
  }

  /** A restored task brings its instants; any other gets that of its acceptance. */
  add(record: TaskRecord, stamps: readonly Stamp[] = ['createdAt']): void {
    this.#puts.set(record.id, { record, isNew: true, stamps })
  }

  put(record: TaskRecord, ...stamps: Stamp[]): void {
    const from = this.task(record.id)?.status ?? record.status
    const isAllowed = from === record.status || canBecome(from, record.status)
    invariant(isAllowed, `${record.id} is ${from} and cannot become ${record.status}`)
    if (this.around.hasHook && !isTerminal(from) && isTerminal(record.status)) this.#hooks.push(owing(record.id))
    const earlier = this.#puts.get(record.id)
    this.#puts.set(record.id, {
      record,
      isNew: earlier?.isNew ?? false,
      stamps: [...(earlier?.stamps ?? []), ...stamps],
      ...(earlier?.reports && { reports: earlier.reports }),
    })
  }

  /** A put that decides what the task has reported as well: these fields are stored as its record says. */
  putReported(record: TaskRecord, reports: readonly (keyof Report)[], ...stamps: Stamp[]): void {
    this.put(record, ...stamps)
    const put = this.#puts.get(record.id)
    if (put) this.#puts.set(record.id, { ...put, reports })
  }

  event<Type extends EventType>(type: Type, data: EventData[Type], task?: TaskRecord, omit?: Omission): number {
    this.#events.push({
      type,
      ...(task && { task: task.id, ...(task.epoch > 0 && { epoch: task.epoch }) }),
      data: encodeWithin(data, this.around.limits.eventBytes, omit),
    })
    return this.#events.length - 1
  }

  /** Writes a message of the conversation and its event. */
  message(message: Omit<Message, 'thread' | 'seq' | 'task' | 'at'>, task: TaskRecord): void {
    const { id, role, parts, finish } = message
    const embedded = { ...message, thread: threadOf(this.live.key), task: task.id } as Message
    const event = this.event('message.created', { message: embedded }, task, { path: 'message', field: 'parts' })
    this.#messages.push({ id, role, parts: JSON.stringify(parts), ...(finish && { finish }), task: task.id, event })
  }

  addMail(mail: Mail): void {
    this.#mail.push(mail)
  }

  readMail(id: string): void {
    this.#read.push(id)
  }

  addQuestion(record: QuestionRecord): void {
    this.#questions.set(record.id, { record, isNew: true, stamp: 'askedAt' })
  }

  question(record: QuestionRecord, stamp?: 'answeredAt'): void {
    const earlier = this.#questions.get(record.id)
    this.#questions.set(record.id, { ...earlier, record, isNew: earlier?.isNew ?? false, ...(stamp && { stamp }) })
  }

  take(id: TaskId): void {
    this.#take.push(id)
  }

  step(step: StepRecord): void {
    this.#steps.push(step)
  }

  forget(id: TaskId): void {
    this.#forget.push(id)
  }

  /** Empties the thread. */
  erase(): void {
    this.#erase = true
  }

  /** Only if this node's lease has run out. */
  requireLapsed(node: string): void {
    this.#lapsed = node
  }

  rememberKey(key: IdempotencyKey): void {
    this.#key = key
  }

  /** Events that were emitted inside a step and belong to the unit that records it. */
  append(events: readonly EventDraft[]): void {
    this.#events.push(...events)
  }

  build(): Unit {
    return {
      operation: this.#operation,
      thread: this.live.key,
      rev: this.live.rev,
      ...(this.#fence && { fence: this.#fence }),
      ...(this.#lapsed !== undefined && { lapsed: this.#lapsed }),
      events: this.#events,
      ...(this.#puts.size > 0 && { tasks: [...this.#puts.values()] }),
      ...(this.#messages.length > 0 && { messages: this.#messages }),
      ...(this.#mail.length > 0 && { mail: this.#mail }),
      ...(this.#read.length > 0 && { read: this.#read }),
      ...(this.#questions.size > 0 && { questions: [...this.#questions.values()] }),
      ...(this.#take.length > 0 && { take: this.#take }),
      ...(this.#steps.length > 0 && { steps: this.#steps }),
      ...(this.#forget.length > 0 && { forget: this.#forget }),
      ...(this.#hooks.length > 0 && { hooks: this.#hooks }),
      ...(this.#key && { key: this.#key }),
      // Only what differs: nearly every prompt finds that nothing woke its thread.
      ...(this.wakes !== this.live.wakes && { wakes: this.wakes }),
      ...(this.#erase && { erase: true }),
    }
  }
}
