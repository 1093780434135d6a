import { HoldfastError } from '../../core/errors.ts'
import type { TaskId, ThreadKey } from '../../core/id.ts'
import type { LivePart } from '../../core/live-part.ts'
import type { QuestionRecord } from '../../core/question.ts'
import type { StepRecord } from '../../core/step.ts'
import type { TaskRecord } from '../../core/task.ts'
import type { Unit, Verdict } from '../../core/unit.ts'
import type { ClaimQuery, Offer } from '../claim.ts'
import type {
  EventPage,
  EventQuery,
  MessagePage,
  MessageQuery,
  OwedQuery,
  QuestionQuery,
  SnapshotLimits,
  SnapshotRecords,
  Store,
  TaskPage,
  TaskQuery,
  ThreadPage,
  ThreadPlace,
  ThreadQuery,
} from '../store.ts'
import { commitUnits } from './commit-units.ts'
import { Leases } from './leases.ts'
import { listTasks, listThreads } from './listings.ts'
import { offer } from './offer.ts'
import { listQuestions } from './question-table.ts'
import { emptyTables, type Tables } from './tables.ts'
import { isLiveIn, readEvents, readLivePart, readMessages, readMoved, readSnapshot } from './thread-reads.ts'

export interface MemoryStoreOptions {
  readonly clock?: { now(): number }
}

/**
 * A store for tests and throw-away use: it keeps everything in this process and nothing after it. What it
 * holds lives as long as the object, over any number of `close` and `open`.
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.clock ?? processClock)
}

const processClock = { now: (): number => Math.round(performance.timeOrigin + performance.now()) }

/**
 * M1 Every method does its work in one go of the event loop: a read is of one moment, a commit has no middle.
 * M2 What it keeps is frozen and its own copy, so it can be given out as it is.
 */
class MemoryStore implements Store {
  readonly kind = 'memory'
  readonly isDurable = false
  readonly isShared = false
  readonly clock: { now(): number }
  readonly #tables = emptyTables()
  readonly #leases: Leases
  #isOpen = false

  constructor(clock: { now(): number }) {
    this.clock = clock
    this.#leases = new Leases(clock)
  }

  async open(): Promise<void> {
    if (this.#isOpen) {
      const message =
        'The store is in use: another runtime of this process has it open. Close that, or make another store'
      throw new HoldfastError('store_locked', message)
    }
    this.#leases.giveUpAll()
    this.#isOpen = true
  }

  async close(): Promise<void> {
    this.#isOpen = false
  }

  async commit(units: readonly Unit[]): Promise<Verdict[]> {
    return commitUnits(this.#opened(), this.#leases, units, this.clock.now())
  }

  async allocate(count: number): Promise<number> {
    const { counters } = this.#opened()
    const first = counters.nextTask
    counters.nextTask += count
    return first
  }

  async livePart(key: ThreadKey): Promise<LivePart | undefined> {
    return readLivePart(this.#opened(), key)
  }

  async snapshot(key: ThreadKey, limits: SnapshotLimits): Promise<SnapshotRecords | undefined> {
    return readSnapshot(this.#opened(), key, limits)
  }

  async events(key: ThreadKey, query: EventQuery): Promise<EventPage> {
    return readEvents(this.#opened(), key, query)
  }

  async messages(key: ThreadKey, query: MessageQuery): Promise<MessagePage> {
    return readMessages(this.#opened(), key, query)
  }

  async task(id: TaskId): Promise<TaskRecord | undefined> {
    return this.#opened().tasks.get(id)?.record
  }

  async tasks(query: TaskQuery | OwedQuery): Promise<TaskPage> {
    return listTasks(this.#opened(), query)
  }

  async threads(query: ThreadQuery): Promise<ThreadPage> {
    return listThreads(this.#opened(), query)
  }

  async questions(query: QuestionQuery): Promise<QuestionRecord[]> {
    const tables = this.#opened()
    return listQuestions(tables.questions, query, isLiveIn(tables))
  }

  async steps(task: TaskId, which?: 'last'): Promise<StepRecord[]> {
    const rows = this.#opened().steps.group(task)
    return (which === 'last' ? rows.slice(-1) : rows).map((row) => row.step)
  }

  async claim(query: ClaimQuery): Promise<Offer> {
    return offer(this.#opened(), this.#leases, query, this.clock.now())
  }

  async renew(node: string, leaseMs: number): Promise<{ readonly wasHeld: boolean }> {
    this.#opened()
    return this.#leases.renew(node, leaseMs)
  }

  /** There is no other node that could commit, so there is nothing to tell. */
  watch(): () => void {
    return () => {}
  }

  async moved(places: readonly ThreadPlace[]): Promise<readonly ThreadPlace[]> {
    return readMoved(this.#opened(), places)
  }

  #opened(): Tables {
    if (this.#isOpen) return this.#tables
    throw new HoldfastError('store_unavailable', 'The memory store is not open: call open() before using it')
  }
}
