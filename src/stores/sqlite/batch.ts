import { principalOf, type ThreadKey } from '../../core/id.ts'
import type { StepRecord } from '../../core/step.ts'
import type { Fence, Mail, Refusal, Removed, Verdict } from '../../core/unit.ts'
import type { Connection } from './connection.ts'
import type { PackedUnit } from './packed-batch.ts'
import { writeQuestion } from './questions.ts'
import type { TaskWrites, UnitPlace } from './task-writes.ts'
import type { KnownThread, ThreadWrites } from './thread-writes.ts'
import { findKey, forgetTask, readMail, writeKey, writeMail, writeMessage, writeStep } from './unit-writes.ts'

/** What the store tells of the moment of a commit. */
export interface Moment {
  readonly now: number
  /** The lowest task number that nobody was given. */
  readonly nextTask: number
  /** The nodes that hold a lease. */
  readonly leaseHolders: readonly string[]
}

export interface Tables {
  readonly connection: Connection
  readonly threads: ThreadWrites
  readonly tasks: TaskWrites
}

/**
 * The units of one transaction, taken in order.
 *
 * B1 A unit is checked before anything of it is written, so a refused one leaves no trace and needs no savepoint.
 * B2 Checks see what earlier units of the batch did, written already or not.
 * B3 What fails after the checks is the unit's fault and fails the whole transaction.
 */
export class Batch {
  readonly #tables: Tables
  readonly #moment: Moment
  /** Where the lines of the units are. */
  readonly #bytes: Uint8Array
  readonly #refused = new Set<string>()
  readonly #stale = new Set<ThreadKey>()

  constructor(tables: Tables, moment: Moment, bytes: Uint8Array) {
    this.#tables = tables
    this.#moment = moment
    this.#bytes = bytes
  }

  take(unit: PackedUnit): Verdict {
    const thread = this.#tables.threads.find(unit.thread)
    const reason = this.#refusal(unit, thread)
    if (!reason) return this.#write(unit, thread)
    if (unit.fence) this.#refused.add(fenceKey(unit.fence))
    if (reason.code === 'stale') this.#stale.add(unit.thread)
    return { committed: false, reason }
  }

  /** Writes what was held back to be written once. */
  flush(): void {
    this.#tables.threads.flush(this.#bytes)
    this.#tables.tasks.flush()
  }

  #refusal(unit: PackedUnit, thread: KnownThread | undefined): Refusal | undefined {
    if (unit.fence && this.#refused.has(fenceKey(unit.fence))) return { code: 'after_refused' }
    const isStale = unit.rev !== (thread?.rev ?? 0) || this.#stale.has(unit.thread)
    if (unit.rev !== undefined && isStale) return { code: 'stale' }
    if (unit.fence && !(thread && this.#tables.tasks.isRunning(unit.fence, thread.n))) return { code: 'fenced' }
    if (unit.lapsed !== undefined && this.#moment.leaseHolders.includes(unit.lapsed)) return { code: 'leased' }
    const used = findKey(this.#tables.connection, unit)
    if (used) return { code: 'key_taken', task: used.task, digest: used.digest }
    return unit.askKey === undefined ? undefined : { code: 'key_free' }
  }

  #write(unit: PackedUnit, found: KnownThread | undefined): Verdict {
    const thread = this.#tables.threads.use(unit.thread, found, this.#moment.now)
    const removed = this.#remove(thread, unit)
    const first = thread.head + 1
    const at = Math.max(thread.at, this.#moment.now)
    this.#tables.threads.append(thread, unit, at)
    if (unit.rev !== undefined) thread.rev = unit.rev + 1
    if (unit.wakes !== undefined) thread.wakes = unit.wakes
    this.#writeTasks(unit, thread, first, at)
    for (const mail of unit.mail ?? []) this.#writeMail(mail, thread)
    for (const id of unit.read ?? []) readMail(this.#tables.connection, thread.n, id)
    const taken = unit.take?.filter((id) => this.#tables.tasks.take(id, thread.n)) ?? []
    this.#writeRest(unit, thread, first, at)
    return { committed: true, first, at, taken, ...(removed && { removed }) }
  }

  #remove(thread: KnownThread, { erase, eraseTasks, trim }: PackedUnit): Removed | undefined {
    const { threads, tasks } = this.#tables
    if (erase) return { events: threads.erase(thread), tasks: tasks.erase(thread.n) }
    if (eraseTasks !== undefined) return { events: 0, tasks: tasks.erase(thread.n, eraseTasks) }
    return trim === undefined ? undefined : { events: threads.trim(thread, trim), tasks: 0 }
  }

  #writeTasks(unit: PackedUnit, thread: KnownThread, first: number, at: number): void {
    const ranges = new Map([...unit.ranges].map(([id, [from, to]]) => [id, [first + from, first + to] as const]))
    const principal = principalOf(unit.thread)
    const place: UnitPlace = { thread: thread.n, principal, at, lastSeq: thread.head, ranges }
    const puts = unit.tasks ?? []
    if (unit.fence && unit.report) this.#tables.tasks.report(unit.fence.task, unit.report)
    for (const id of ranges.keys()) {
      if (!puts.some((put) => put.isNew && put.record.id === id)) this.#tables.tasks.number(id, place)
    }
    for (const put of puts) {
      if (put.record.key !== unit.thread) throw new Error(`${put.record.id} is not of the thread ${unit.thread}`)
      this.#tables.tasks.put(put, place)
    }
  }

  #writeRest(unit: PackedUnit, thread: KnownThread, first: number, at: number): void {
    for (const put of unit.messages ?? []) {
      if (put.event >= unit.eventCount)
        throw new Error(`The message ${put.id} names an event that its unit does not have`)
      writeMessage(this.#tables.connection, thread.n, put, first + put.event, at)
    }
    for (const put of unit.hooks ?? []) this.#tables.tasks.hook(put, thread.n, at)
    for (const put of unit.questions ?? []) writeQuestion(this.#tables.connection, thread.n, put, at)
    for (const step of unit.steps ?? []) this.#writeStep(step, thread)
    for (const id of unit.forget ?? []) {
      if (!this.#tables.tasks.isBare(id)) forgetTask(this.#tables.connection, thread.n, id)
    }
    if (unit.key) writeKey(this.#tables.connection, principalOf(unit.thread), unit.key, this.#moment.now)
  }

  #writeMail(mail: Mail, thread: KnownThread): void {
    this.#tables.tasks.noteAttached(mail.task)
    writeMail(this.#tables.connection, thread.n, mail)
  }

  #writeStep(step: StepRecord, thread: KnownThread): void {
    this.#tables.tasks.noteAttached(step.task)
    writeStep(this.#tables.connection, step, thread.head)
  }
}

function fenceKey(fence: Fence): string {
  return `${fence.epoch} ${fence.task}`
}
