import { end } from '../core/end.ts'
import type { TaskId } from '../core/id.ts'
import type { Outcome } from '../core/outcome.ts'
import { countCrashes, crashesMax, isOver, type ResumeBasis, release, resume, takeOver } from '../core/recover.ts'
import type { TaskRecord } from '../core/task.ts'
import type { TaskRef } from '../stores/claim.ts'
import type { Store } from '../stores/store.ts'
import type { Clock } from './clock.ts'
import { committedRecord } from './committed-record.ts'
import { readEarlierAttempts } from './earlier-attempts.ts'
import { type Change, type Done, executing, intent } from './entry.ts'
import type { Resumption } from './executor.ts'
import type { Logger } from './logger.ts'
import { cancelledOutcome, onlyOutcome, poisonedOutcome } from './orphan-outcome.ts'
import { OrphanOutput } from './orphan-output.ts'
import type { Registry } from './registry.ts'
import { Rests } from './rests.ts'
import type { Slots } from './slots.ts'
import type { EventReads } from './task-events.ts'
import type { Writer } from './writer.ts'

// Of each of them a page of its log is in memory, and what its earlier attempts left.
const resumesMax = 256
// With less room nothing is taken over, or each that was read would bring a look for one more.
const roomMin = 64

export interface RecoveryParts {
  readonly store: Store
  readonly writer: Writer
  readonly slots: Slots
  readonly log: Logger
  readonly agents: Registry
  readonly clock: Clock
  /** What rested may be tried again, or there is room for more to be read. */
  onRested(): void
}

/**
 * Goes on with tasks whose node is gone.
 *
 * V1 The takeover is committed before anything is read, so nothing the old node does can change what was read.
 * V2 A cancelled task is never resumed, nor is one whose time is over; a task that cannot be resumed ends as `orphaned`, one that
 *    keeps bringing its node down ends as `poisoned`. That is decided before its log and the values of its steps are read, because
 *    to read them may be what brings nodes down; and of its log no more than a page is kept, but for what counts.
 * V3 A task that was taken over and then could not be read is given up again, for other nodes to find. Here it rests for a while,
 *    longer each time, or every look would take it over; a cancel ends the rest, also one that came while it was being read.
 * V4 A task that is to end ends: if its log cannot be read in many tries of a minute, or if nodes that were to end it died, without
 *    what it had put out.
 * V5 What was taken over is read beside all else, because its log may be long: nothing but a close waits for it. What can only be
 *    ended holds no slot.
 * V6 What a node that drains has taken over and not read when its time is over is given up again, which is no crash, and begins
 *    there no more.
 */
export class Recovery {
  readonly #parts: RecoveryParts
  /** Reads what is taken over, which waits for nothing that users read. */
  readonly #reads: EventReads
  /** What is neither going on nor ended yet, unless that is being written. */
  readonly #taken = new Map<TaskId, TaskRecord>()
  /** Those on their way to the store. */
  readonly #takeovers = new Set<Promise<unknown>>()
  #isHandingOver = false
  readonly #resumptions = new Map<TaskId, Resumption>()
  readonly #output: OrphanOutput
  readonly #resumes = new Set<Promise<unknown>>()
  readonly #endings = new Set<Promise<unknown>>()
  readonly #rests: Rests<TaskId>

  constructor(parts: RecoveryParts) {
    this.#parts = parts
    this.#reads = { events: (key, query) => parts.store.events(key, { ...query, toDecide: true }) }
    this.#output = new OrphanOutput(this.#reads, parts.log, () => this.#now)
    this.#rests = new Rests({ clock: parts.clock, onOver: () => parts.onRested() })
  }

  /** Tasks that are not to be tried for a while (V3). */
  get resting(): readonly TaskId[] {
    return this.#rests.keys
  }

  /** What is left of an orphan is another matter by now: it may be tried at once. */
  endRest(task: TaskId): void {
    this.#rests.end(task)
  }

  /** What was taken over and has neither gone on nor ended yet. */
  get unsettled(): readonly TaskId[] {
    return [...this.#taken.keys(), ...this.#resumptions.keys()]
  }

  /** Nothing is tried again. What is being ended may still end. */
  close(): void {
    this.#rests.close()
  }

  /** What the earlier attempts of a task left, handed out once, when its resume is committed. */
  takeResumption(task: TaskId): Resumption | undefined {
    const resumption = this.#resumptions.get(task)
    this.#resumptions.delete(task)
    return resumption
  }

  /** How many more can be taken over to go on (V5). */
  get room(): number {
    const room = resumesMax - this.#resumes.size
    return room < roomMin ? 0 : room
  }

  /** What was taken over and is being ended (V5). */
  get endings(): ReadonlySet<Promise<unknown>> {
    return this.#endings
  }

  /** Resolves when nothing that was taken over is under way any more. */
  async settled(): Promise<void> {
    // In this order: what was to go on may have to be ended.
    await Promise.all(this.#resumes)
    await Promise.all(this.#endings)
  }

  /** Gives up what is still being read (V6), as far as the store takes that. Nothing is taken over after it. */
  async handOver(): Promise<void> {
    this.#isHandingOver = true
    await Promise.allSettled(this.#takeovers)
    const taken = [...this.#taken.values()]
    this.#taken.clear()
    await Promise.all(taken.map((record) => this.#release(record)))
  }

  /** Whether all that this node can do with an orphan that it is offered is to end it. */
  canOnlyEnd({ agent }: Pick<TaskRef, 'agent'>): boolean {
    return agent === undefined || this.#parts.agents.get(agent)?.isResumable === false
  }

  /** Takes over what can only be ended, unless somebody else did, and begins to end it. It takes no slot. */
  async finish(orphan: TaskRef): Promise<boolean> {
    let outcome: Outcome | undefined
    const record = await this.#takeOver(orphan, (record) => {
      outcome =
        isOver(record, this.#now) || this.canOnlyEnd(record)
          ? onlyOutcome(record, this.#now, this.#parts.agents)
          : undefined
      return outcome !== undefined
    })
    if (record && outcome) this.#endBeside(record, outcome)
    return record !== undefined
  }

  /** Takes an orphan over, unless somebody else did, and begins to go on with it. A slot was taken for it. */
  async recover(orphan: TaskRef): Promise<boolean> {
    let record: TaskRecord | undefined
    try {
      record = await this.#takeOver(orphan)
    } finally {
      if (!record) this.#parts.slots.give(orphan.agent)
    }
    if (record) this.#goOnBeside(record, orphan)
    return record !== undefined
  }

  get #now(): number {
    return this.#parts.store.clock.now()
  }

  async #takeOver(orphan: TaskRef, isWanted?: (record: TaskRecord) => boolean): Promise<TaskRecord | undefined> {
    if (this.#isHandingOver) return undefined
    const taking = this.#take(orphan, isWanted)
    this.#takeovers.add(taking)
    try {
      const record = await taking
      return this.#isHandingOver ? undefined : record
    } finally {
      this.#takeovers.delete(taking)
    }
  }

  async #take(
    { id, key }: TaskRef,
    isWanted: (record: TaskRecord) => boolean = () => true,
  ): Promise<TaskRecord | undefined> {
    // It may have been offered before it was given up.
    const isNow = (record: TaskRecord) => !this.#rests.has(id) && isWanted(record)
    const done = await this.#parts.writer.change(
      intent(key, 'takeover', (live, around) => takeOver(live, around, id, isNow)),
    )
    if ('refusal' in done || !done.value || !done.unit || !done.verdict) return undefined
    const record = committedRecord(done.unit, done.verdict, done.value)
    if (record) this.#taken.set(id, record)
    return record
  }

  /** V3. Never rejects. */
  async #orRest(record: TaskRecord, act: () => Promise<boolean>): Promise<boolean> {
    try {
      return await act()
    } catch (error) {
      const { id } = record
      this.#resumptions.delete(id)
      if (!this.#taken.delete(id)) return false
      // Before it is given up, or a look could find it in between.
      const afterMs = this.#rests.begin(id)
      const then = afterMs === undefined ? 'the next start tries again' : `it is tried again in ${afterMs} ms`
      this.#parts.log.warn({ err: error, task: id }, `an orphan can neither go on nor be ended; ${then}`)
      const released = await this.#release(record)
      // A cancel that came while it was being read found no rest to end.
      if (released?.cancelRequestedAt === undefined || record.cancelRequestedAt !== undefined) return false
      this.endRest(id)
      this.#parts.onRested()
      return false
    }
  }

  /** Answers with the task as it was when it was given up, unless somebody else has it or the store does not take that. */
  async #release({ id, key, epoch }: TaskRecord): Promise<TaskRecord | undefined> {
    const { writer, log } = this.#parts
    const author = { task: id, thread: key }
    try {
      const done = await writer.change(executing(author, 'release', (live, around) => release(live, around, id, epoch)))
      return 'value' in done ? done.value : undefined
    } catch (error) {
      log.warn({ err: error, task: id }, 'an orphan could not be given up')
      return undefined
    }
  }

  /** Writes what becomes of a task, unless it was handed over meanwhile. */
  async #change<Value>(
    record: TaskRecord,
    operation: 'resume' | 'end',
    decide: Change<Value>['decide'],
  ): Promise<Done<Value> | undefined> {
    const { id, key } = record
    if (!this.#taken.delete(id)) return undefined
    try {
      return await this.#parts.writer.change(executing({ task: id, thread: key }, operation, decide))
    } catch (error) {
      this.#taken.set(id, record)
      throw error
    }
  }

  async #goOn(record: TaskRecord): Promise<boolean> {
    const outcome = onlyOutcome(record, this.#now, this.#parts.agents)
    if (outcome) return this.#endBeside(record, outcome)
    const { store } = this.#parts
    const crashes = countCrashes(record, await store.steps(record.id, 'last'))
    if (crashes >= crashesMax) return this.#endBeside(record, poisonedOutcome(crashes), crashes)
    const steps = await store.steps(record.id)
    const { plan, output, report } = await readEarlierAttempts(this.#reads, record, steps)
    this.#resumptions.set(record.id, { output, bag: plan.bag, steps })
    return this.#resume(record, { plan, crashes, ...report })
  }

  async #resume(record: TaskRecord, basis: ResumeBasis): Promise<boolean> {
    const { id, epoch } = record
    const done = await this.#change(record, 'resume', (live, around) => resume(live, around, id, epoch, basis))
    if (done && 'value' in done && done.value) {
      this.#rests.forget(id)
      this.#parts.log.info({ task: id, attempt: done.value.attempt }, 'a task goes on from its last finished step')
      return true
    }
    this.#resumptions.delete(id)
    // Somebody else has it, or else it was cancelled since it was taken over.
    if (!done || 'refusal' in done) return false
    this.#taken.set(id, record)
    return this.#endBeside(record, cancelledOutcome)
  }

  /** V5. The slot is given back unless the task goes on. */
  #goOnBeside(record: TaskRecord, { agent }: TaskRef): void {
    const { slots } = this.#parts
    const resume = this.#orRest(record, () => this.#goOn(record)).then((hasResumed) => {
      const wasFull = this.room === 0
      this.#resumes.delete(resume)
      if (!hasResumed) slots.give(agent)
      if (wasFull && this.room > 0) this.#parts.onRested()
    })
    this.#resumes.add(resume)
  }

  /** V5. */
  #endBeside(record: TaskRecord, outcome: Outcome, crashes = record.crashes): false {
    const ending = this.#orRest(record, () => this.#end(record, outcome, crashes)).then(() => {
      this.#endings.delete(ending)
    })
    this.#endings.add(ending)
    return false
  }

  async #end(record: TaskRecord, outcome: Outcome, crashes: number): Promise<false> {
    const { id, epoch } = record
    const ending = { outcome, output: await this.#output.read(record, crashes) }
    const done = await this.#change(record, 'end', (live, around) => end(live, around, id, epoch, ending))
    if (!done) return false
    this.#rests.forget(id)
    if ('value' in done && done.value) this.#parts.log.warn({ task: id, outcome }, 'an orphan was ended')
    return false
  }
}
