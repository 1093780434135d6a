import type { Surroundings } from '../core/decision.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import { type LiveThread, untakenNotRead } from '../core/live-thread.ts'
import type { TaskRecord } from '../core/task.ts'
import type { Unit } from '../core/unit.ts'
import { type ChangeEntry, type EmitEntry, type Entry, keyOf, type StepEntry } from './entry.ts'
import type { Lanes } from './lanes.ts'
import { outOfTaskIds } from './task-ids.ts'
import type { Threads } from './threads.ts'

// A batch of this size takes a few milliseconds to write; a larger one would delay whoever comes next.
export const batchBytesMax = 512 * 1024
const batchUnitsMax = 1024

/** What decisions may use, and how what an uncommitted one took is given back. */
export interface BatchSurroundings extends Surroundings {
  /** A unit was decided. It is committed, or given back. */
  decided(unit: Unit): void
  giveBack(taken: Taken): void
  refillTaskIds(count: number): Promise<void>
}

/** What a decision took of what the node has. */
export interface Taken {
  readonly ids: readonly TaskId[]
  readonly slotCount: number
  /** What it came to, if it is a change. */
  readonly unit?: Unit
  /** The store may have refused it because of its ids: they are not given out again. */
  readonly areIdsSpent?: boolean
}

const nothing: Taken = { ids: [], slotCount: 0 }

/**
 * An entry in a batch. Without a unit it has nothing to write, but its answer, also a refusal, stands only if what was decided
 * before it in the batch is committed.
 */
export interface Item {
  readonly entry: Entry
  readonly unit?: Unit
  readonly value?: unknown
  /** What its decision threw: a refusal, or a broken invariant. Either way its one caller is told, and others go on. */
  readonly thrown?: { readonly error: unknown }
  /** What its decision took; given back if the unit is not committed. */
  readonly taken: Taken
}

/** Which entries a batch may take. */
export interface BatchFilter {
  allows(entry: Entry): boolean
  /** The thread is left alone for a while because another program holds it: whatever is written to it waits. */
  isLocked(thread: ThreadKey): boolean
}

/** What is committed together: entries taken from the lanes in turns, and the units they became. */
export class Batch {
  readonly items: Item[] = []
  /** Threads whose live part must be read before their entries can be decided, or that rest. */
  readonly missing = new Set<ThreadKey>()
  /** How many new task ids what is still in the lanes will want, once there were too few. */
  idsWanted = 0
  #bytes = 0
  /** Threads that this batch writes to: what is decided in them after that holds if it is committed. */
  readonly #changed = new Set<ThreadKey>()
  readonly #threads: Threads
  readonly #around: BatchSurroundings
  readonly #filter: BatchFilter

  constructor(lanes: Lanes<Entry>, threads: Threads, around: BatchSurroundings, filter: BatchFilter) {
    this.#threads = threads
    this.#around = around
    this.#filter = filter
    this.fill(lanes)
  }

  /** Takes what has room, and goes on where there were too few ids. */
  fill(lanes: Lanes<Entry>): void {
    this.idsWanted = 0
    lanes.drain((entry) => this.#take(entry))
    if (this.idsWanted > 0) this.idsWanted = Math.max(1, lanes.count(isAccept))
  }

  /** Nothing that waits could be taken, nor could it with more ids. */
  get isEmpty(): boolean {
    return this.items.length === 0 && this.idsWanted === 0
  }

  get units(): Unit[] {
    return this.items.flatMap((item) => item.unit ?? [])
  }

  #take(entry: Entry): 'taken' | 'blocked' | 'full' {
    const { allows, isLocked } = this.#filter
    if (this.items.length >= batchUnitsMax || this.#bytes >= batchBytesMax) return 'full'
    const thread = keyOf(entry)
    if (isLocked(thread)) {
      this.missing.add(thread)
      return 'blocked'
    }
    if (!allows(entry)) return 'blocked'
    if (entry.kind !== 'change') {
      const unit = executingUnit(entry)
      // Whatever is decided about the task from here on carries along what it has reported.
      if (unit.report) this.#threads.get(unit.thread)?.apply(unit)
      this.items.push({ entry, unit, taken: nothing })
      this.#bytes += entry.bytes
      return 'taken'
    }
    const live = this.#threads.get(entry.change.thread)
    if (!live) {
      this.missing.add(entry.change.thread)
      return 'blocked'
    }
    return this.#decide(entry, live)
  }

  #decide(entry: ChangeEntry, live: LiveThread): 'taken' | 'blocked' | 'full' {
    const ids: TaskId[] = []
    let slotCount = 0
    const around: Surroundings = {
      ...this.#around,
      newTaskId: () => {
        const id = this.#around.newTaskId()
        ids.push(id)
        return id
      },
      takeSlot: (task: TaskRecord) => {
        const hasTaken = this.#around.takeSlot(task)
        if (hasTaken) slotCount += 1
        return hasTaken
      },
    }
    try {
      const { unit, value } = entry.change.decide(live, around)
      if (!unit && !this.#isSure(entry)) return this.#ask(entry, { ids, slotCount })
      if (unit?.rev !== undefined) this.#changed.add(unit.thread)
      if (unit) live.apply(unit)
      if (unit) this.#around.decided(unit)
      this.items.push({ entry, ...(unit && { unit }), value, taken: { ids, slotCount, ...(unit && { unit }) } })
      if (unit) this.#bytes += bytesOf(unit)
      return 'taken'
    } catch (error) {
      this.#around.giveBack({ ids, slotCount })
      if (error === outOfTaskIds) {
        this.idsWanted = 1
        return 'full'
      }
      if (error === untakenNotRead) {
        this.#threads.wantUntaken(entry.change.thread)
        return this.#ask(entry, nothing)
      }
      if (!this.#isSure(entry)) return this.#ask(entry, nothing)
      this.items.push({ entry, thrown: { error }, taken: nothing })
      return 'taken'
    }
  }

  /** Whether no other node can have made it wrong to write nothing, or to refuse. */
  #isSure({ change, askedAt }: ChangeEntry): boolean {
    return this.#changed.has(change.thread) || this.#threads.isAsOf(change.thread, askedAt)
  }

  /** Has the thread read again; the entry stays where it is, to be decided from that. */
  #ask({ change }: ChangeEntry, taken: Taken): 'blocked' {
    this.#around.giveBack(taken)
    this.#threads.discard(change.thread)
    this.missing.add(change.thread)
    return 'blocked'
  }
}

function isAccept(entry: Entry): boolean {
  return entry.kind === 'change' && entry.change.operation === 'accept'
}

/** Roughly what a structural unit takes: its events, and the values of its tasks. */
function bytesOf(unit: Unit): number {
  const events = unit.events.reduce((sum, event) => sum + event.data.length, 0)
  const tasks = unit.tasks ?? []
  return tasks.reduce((sum, { record }) => sum + (record.input?.length ?? 0) + (record.result?.length ?? 0), events)
}

function executingUnit(entry: EmitEntry | StepEntry): Unit {
  const { task, epoch, thread } = entry.author
  return {
    operation: entry.kind,
    thread,
    fence: { task, epoch },
    events: entry.events,
    ...(entry.report && { report: entry.report }),
    ...(entry.kind === 'step' && { steps: entry.steps }),
  }
}
