import { byteLength } from './fits-in.ts'
import { type HookPut, putHook, withHook } from './hook.ts'
import type { TaskId, ThreadKey } from './id.ts'
import { LazyMap } from './lazy-map.ts'
import { isAwaited, type LivePart } from './live-part.ts'
import type { QuestionRecord } from './question.ts'
import { withStoredReport } from './report.ts'
import { stamped, taskRanges } from './stamp.ts'
import { isTerminal } from './status.ts'
import { isRun, type TaskRecord } from './task.ts'
import type { Committed, Mail, QuestionPut, Unit } from './unit.ts'
import { Unread } from './unread.ts'
import { Untaken } from './untaken.ts'

class UntakenNotRead extends Error {}

/** Thrown by a decision that needs further ends which nobody took, where they were not read: it is made again once they were. */
export const untakenNotRead = new UntakenNotRead('what nobody took was not read')

/**
 * The live part of a thread, indexed for decisions and carried forward by the units decided from it, so that
 * many units of one thread can be decided before the first is committed.
 *
 * L1 After `apply` of committed units it equals what the store would read anew.
 * L2 It never undoes: if a unit is not committed, its owner throws the whole away and reads it again.
 */
export class LiveThread {
  readonly key: ThreadKey
  #rev: number
  #wakes: number
  readonly #tasks = new Map<TaskId, TaskRecord>()
  readonly #ended = new LazyMap<TaskId, TaskRecord>()
  /** Ids in `#ended` by parent: when a parent ends, the ends it has not read are looked at again. */
  readonly #endedChildren = new LazyMap<TaskId, Set<TaskId>>()
  /** What nobody took and nobody awaits; undefined unless it was read. Of them only what tells their end is kept up to date. */
  #untaken: Untaken | undefined
  readonly #unread = new Unread()
  readonly #questions = new LazyMap<TaskId, readonly QuestionRecord[]>()
  readonly #children = new LazyMap<TaskId, Set<TaskId>>()
  readonly #names = new LazyMap<string, TaskId>()
  readonly #runs = new Set<TaskId>()
  #inputBytes = 0

  constructor(part: LivePart) {
    this.key = part.key
    this.#rev = part.rev
    this.#wakes = part.wakes
    for (const record of part.tasks) this.#put(record)
    for (const record of part.ended) this.#keep(record)
    if (part.untaken) this.#setUntaken(part.untaken)
    for (const mail of part.mail) this.#unread.add(mail)
    for (const question of part.questions) this.#putQuestion(question)
  }

  get rev(): number {
    return this.#rev
  }

  get wakes(): number {
    return this.#wakes
  }

  get isIdle(): boolean {
    return this.#tasks.size === 0
  }

  /** What its live tasks were given to work on, all together. */
  get inputBytes(): number {
    return this.#inputBytes
  }

  /** About what messages take that its tasks have not read. */
  get messageBytes(): number {
    return this.#unread.messageBytes
  }

  task(id: TaskId): TaskRecord | undefined {
    return this.#tasks.get(id)
  }

  tasks(): IterableIterator<TaskRecord> {
    return this.#tasks.values()
  }

  named(name: string): TaskRecord | undefined {
    const id = this.#names.get(name)
    return id === undefined ? undefined : this.#tasks.get(id)
  }

  /** Live tasks whose parent is this one, attached or not. */
  children(id: TaskId): TaskRecord[] {
    return [...(this.#children.get(id) ?? [])].flatMap((child) => this.#tasks.get(child) ?? [])
  }

  /** Live runs in the order in which they run. */
  runs(): TaskRecord[] {
    const runs = [...this.#runs].flatMap((id) => this.#tasks.get(id) ?? [])
    return inRunningOrder(runs)
  }

  /** What the task has not read, in the order in which it reads. */
  mailOf(id: TaskId): Iterable<Mail> {
    return this.#unread.of(id)
  }

  /** Questions that the task asked, open or with an end that it has not taken, in the order in which it asked. */
  questionsOf(id: TaskId): readonly QuestionRecord[] {
    return this.#questions.get(id) ?? []
  }

  ended(): Iterable<TaskRecord> {
    return this.#ended.values()
  }

  /** Ends that nobody took and that `ended` does not have, as many as were read and have come since. */
  untaken(): Iterable<TaskRecord> {
    if (!this.#untaken) throw untakenNotRead
    return this.#untaken.values()
  }

  apply(unit: Unit): void {
    if (unit.erase) this.#erase()
    if (unit.eraseTasks !== undefined) this.#eraseEnded()
    // What a wake has left is not all that is left.
    if (unit.wakes) this.#untaken = undefined
    if (unit.rev !== undefined) this.#rev = unit.rev + 1
    if (unit.wakes !== undefined) this.#wakes = unit.wakes
    if (unit.fence && unit.report) this.#merge(unit.fence.task, unit.report)
    for (const put of unit.tasks ?? []) this.#put(withStoredReport(put, this.#known(put.record.id)))
    for (const mail of unit.mail ?? []) this.#unread.add(mail)
    for (const id of unit.read ?? []) this.#unread.drop(id)
    for (const id of unit.take ?? []) this.#dropEnded(id)
    for (const { record } of unit.questions ?? []) this.#putQuestion(record)
    for (const put of unit.hooks ?? []) this.#putHook(put, 0)
  }

  /** Fills in what only the commit could tell: the instants, and the numbers of each task's first and last event. */
  stamp(unit: Unit, verdict: Committed): void {
    const lastSeq = verdict.first + unit.events.length - 1
    for (const put of unit.tasks ?? []) this.#merge(put.record.id, stamped(put, verdict.at, lastSeq))
    for (const put of unit.questions ?? []) this.#stampQuestion(put, verdict.at)
    for (const put of unit.hooks ?? []) if (put.stamp) this.#putHook(put, verdict.at)
    for (const [id, [first, last]] of taskRanges(unit.events, verdict.first)) {
      const firstSeq = this.#known(id)?.firstSeq
      this.#merge(id, { firstSeq: firstSeq || first, seq: last })
    }
  }

  #known(id: TaskId): TaskRecord | undefined {
    return this.#tasks.get(id) ?? this.#ended.get(id)
  }

  /** Which of them are gone is the store's to say, and none of them is of use to anybody. */
  #eraseEnded(): void {
    this.#ended.clear()
    this.#endedChildren.clear()
    this.#untaken = undefined
  }

  #erase(): void {
    this.#wakes = 0
    this.#untaken = undefined
    this.#inputBytes = 0
    this.#tasks.clear()
    this.#runs.clear()
    this.#unread.clear()
    for (const index of [this.#ended, this.#endedChildren, this.#children, this.#names, this.#questions]) {
      index.clear()
    }
  }

  #put(record: TaskRecord): void {
    const known = this.#tasks.get(record.id)
    if (!isTerminal(record.status)) {
      // What a task was given never changes.
      if (!known) this.#inputBytes += inputBytesOf(record)
      this.#tasks.set(record.id, record)
      this.#index(record)
      return
    }
    if (known) this.#inputBytes -= inputBytesOf(known)
    this.#tasks.delete(record.id)
    this.#unread.dropAllOf(record.id)
    this.#questions.delete(record.id)
    this.#runs.delete(record.id)
    unlink(this.#children, record.parent?.task, record.id)
    if (record.name !== undefined && this.#names.get(record.name) === record.id) this.#names.delete(record.name)
    for (const id of [...(this.#endedChildren.get(record.id) ?? [])]) {
      const ended = this.#ended.get(id)
      if (ended) this.#keepIfAwaited(ended)
    }
    this.#keepIfAwaited(record)
  }

  #index(record: TaskRecord): void {
    if (record.name !== undefined) this.#names.set(record.name, record.id)
    if (isRun(record)) this.#runs.add(record.id)
    link(this.#children, record.parent?.task, record.id)
  }

  #keepIfAwaited(record: TaskRecord): void {
    if (isAwaited(record, (id) => this.#tasks.has(id))) return this.#keep(record)
    this.#dropEnded(record.id)
    if (!record.taken && !isRun(record)) this.#untaken?.add(record)
  }

  #setUntaken(records: readonly TaskRecord[]): void {
    this.#untaken = new Untaken()
    for (const record of records) if (!this.#known(record.id)) this.#untaken.add(record)
  }

  #keep(record: TaskRecord): void {
    this.#ended.set(record.id, record)
    link(this.#endedChildren, record.parent?.task, record.id)
  }

  #dropEnded(id: TaskId): void {
    unlink(this.#endedChildren, this.#ended.get(id)?.parent?.task, id)
    this.#ended.delete(id)
    this.#untaken?.delete(id)
  }

  #merge(id: TaskId, fields: Partial<TaskRecord>): void {
    const records = this.#tasks.has(id) ? this.#tasks : this.#ended
    const record = records.get(id)
    if (record) records.set(id, { ...record, ...fields })
  }

  #putQuestion(record: QuestionRecord): void {
    const questions = this.questionsOf(record.task)
    const place = questions.findIndex((question) => question.id === record.id)
    const isKept = !record.taken && this.#tasks.has(record.task)
    const kept = questions.toSpliced(
      place === -1 ? questions.length : place,
      place === -1 ? 0 : 1,
      ...(isKept ? [record] : []),
    )
    if (kept.length === 0) this.#questions.delete(record.task)
    else this.#questions.set(record.task, kept)
  }

  #stampQuestion({ record, stamp }: QuestionPut, at: number): void {
    const known = this.questionsOf(record.task).find((question) => question.id === record.id)
    if (known && stamp) this.#putQuestion({ ...known, [stamp]: at })
  }

  #putHook(put: HookPut, at: number): void {
    const ended = this.#ended.get(put.task)
    if (ended) this.#ended.set(put.task, withHook(ended, putHook(put, at)))
  }
}

/** What a task was given to work on, as it is kept. */
export function inputBytesOf({ input }: { readonly input?: string | undefined }): number {
  return input === undefined ? 0 : byteLength(input)
}

function link(index: LazyMap<TaskId, Set<TaskId>>, parent: TaskId | undefined, child: TaskId): void {
  if (parent === undefined) return
  const children = index.get(parent) ?? new Set()
  index.set(parent, children.add(child))
}

function unlink(index: LazyMap<TaskId, Set<TaskId>>, parent: TaskId | undefined, child: TaskId): void {
  const children = parent === undefined ? undefined : index.get(parent)
  if (parent === undefined || !children?.delete(child)) return
  if (children.size === 0) index.delete(parent)
}

/** The running one first, then the queue by place of acceptance. */
export function inRunningOrder(runs: TaskRecord[]): TaskRecord[] {
  return runs.sort((a, b) => Number(b.status === 'running') - Number(a.status === 'running') || a.place - b.place)
}
