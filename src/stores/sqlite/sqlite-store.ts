import { setImmediate as nextTurn } from 'node:timers/promises'
import { HoldfastError } from '../../core/errors.ts'
import { type TaskId, type ThreadKey, taskNumber } from '../../core/id.ts'
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
import { sqliteClock } from './clock.ts'
import { type CommitterRule, CostRule } from './committer-rule.ts'
import { Connection } from './connection.ts'
import { adoptCopy } from './copy-mark.ts'
import { readEvents } from './event-reads.ts'
import { translate, translateOpening } from './failure.ts'
import { Leases } from './leases.ts'
import { locate } from './location.ts'
import { FileLock } from './lock.ts'
import { readOffer } from './offer.ts'
import { listQuestions } from './questions.ts'
import { listTasks, readSteps, readTask } from './task-reads.ts'
import { ThreadFilter } from './thread-filter.ts'
import { listThreads } from './thread-list.ts'
import { highestThread, readLivePart, readMessages, readMoved, readSnapshot, readThreadKeys } from './thread-reads.ts'
import { WriterHost } from './writer-host.ts'

// So many keys are read and added in about half a millisecond, so that nobody waits for it.
const fillCountMax = 500

export interface SqliteStoreOptions {
  /** The file. It is made, with its folder, if it is not there. */
  readonly path: string
  readonly clock?: { now(): number }
  /** Whether opening makes the schema and brings it up to date (the default), or refuses a file that lacks it. */
  readonly migrate?: boolean
  /** The most pages of 4 KiB the file may have; a commit that needs more is refused as if the disk were full. */
  readonly pageCountMax?: number
}

/** A store in one file, for one process at a time: durable over crashes of the process and of the machine. */
export function sqliteStore(options: SqliteStoreOptions): Store {
  return new SqliteStore(options, () => new CostRule())
}

/** The same with another rule for who commits. */
export function sqliteStoreWith(options: SqliteStoreOptions, newRule: () => CommitterRule): Store {
  return new SqliteStore(options, newRule)
}

interface Opened {
  readonly path: string
  readonly lock: FileLock
  readonly writer: WriterHost
  readonly reader: Connection
  readonly filter: ThreadFilter
}

/**
 * Q1 All writing is done through the writer's host; all reading here, on a connection that cannot write. A commit is
 *    answered after it is on disk, so whatever is read then sees it.
 * Q2 A read is one transaction, or one statement, so it is of one moment.
 * Q3 Task numbers are handed out from memory. Each commit stores how far they went, and so does `close`: only numbers
 *    that no commit followed can come again, after a crash.
 * Q4 The filter has every thread of the file, once it is whole: `commit` adds before it writes, and no other process writes.
 */
class SqliteStore implements Store {
  readonly kind = 'sqlite'
  readonly isDurable = true
  readonly isShared = false
  readonly clock: { now(): number }
  readonly #options: SqliteStoreOptions
  readonly #newRule: () => CommitterRule
  readonly #leases = new Leases()
  #nextTask = 0
  #opened: Opened | undefined

  constructor(options: SqliteStoreOptions, newRule: () => CommitterRule) {
    this.#options = options
    this.#newRule = newRule
    this.clock = options.clock ?? sqliteClock
  }

  async open(): Promise<void> {
    const { migrate: mayMigrate = true, pageCountMax } = this.#options
    const path = locate(this.#options.path, mayMigrate)
    const lock = new FileLock(path)
    let writer: WriterHost | undefined
    try {
      adoptCopy(path)
      const writerOptions = { path, mayMigrate, ...(pageCountMax !== undefined && { pageCountMax }) }
      const opened = await WriterHost.open(writerOptions, this.#newRule())
      writer = opened.host
      this.#opened = { path, lock, writer, ...openReader(path) }
      this.#nextTask = opened.nextTask
      this.#leases.giveUpAll()
      // If it cannot be filled, threads are looked for in the file, as they are until it is.
      this.#fillFilter(this.#opened).catch(() => {})
    } catch (error) {
      await writer?.close(0)
      lock.release()
      throw error
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened
    if (!opened) return
    this.#opened = undefined
    try {
      opened.reader.close()
      await opened.writer.close(this.#nextTask)
    } finally {
      opened.lock.release()
    }
  }

  async commit(units: readonly Unit[]): Promise<Verdict[]> {
    const { writer, filter } = this.#use()
    for (const { thread } of units) filter.add(thread)
    this.#nextTask = Math.max(this.#nextTask, ...units.map(nextTaskAfter))
    const now = this.clock.now()
    return writer.apply(units, { now, nextTask: this.#nextTask, leaseHolders: this.#leases.holders(now) })
  }

  async allocate(count: number): Promise<number> {
    this.#use()
    const first = this.#nextTask
    this.#nextTask += count
    return first
  }

  async livePart(key: ThreadKey): Promise<LivePart | undefined> {
    // Many a run is the first of its thread, and a read after a commit begins with an empty cache.
    if (!this.#use().filter.mayHave(key)) return undefined
    return this.#read((reader) => readLivePart(reader, key))
  }

  async snapshot(key: ThreadKey, limits: SnapshotLimits): Promise<SnapshotRecords | undefined> {
    return this.#read((reader) => readSnapshot(reader, key, limits))
  }

  async events(key: ThreadKey, query: EventQuery): Promise<EventPage> {
    let page = this.#read((reader) => readEvents(reader, key, query))
    const last = Math.min(page.head, query.task?.last ?? 0)
    while (page.events.length === 0 && page.upTo < last && query.limit > 0) {
      await nextTurn()
      const after = page.upTo
      page = this.#read((reader) => readEvents(reader, key, { ...query, after }))
    }
    return page
  }

  async messages(key: ThreadKey, query: MessageQuery): Promise<MessagePage> {
    return this.#read((reader) => readMessages(reader, key, query))
  }

  async task(id: TaskId): Promise<TaskRecord | undefined> {
    return this.#readOnce((reader) => readTask(reader, id))
  }

  async tasks(query: TaskQuery | OwedQuery): Promise<TaskPage> {
    return this.#read((reader) => listTasks(reader, query))
  }

  async threads(query: ThreadQuery): Promise<ThreadPage> {
    return this.#read((reader) => listThreads(reader, query))
  }

  async questions(query: QuestionQuery): Promise<QuestionRecord[]> {
    return this.#readOnce((reader) => listQuestions(reader, query))
  }

  async steps(task: TaskId, which?: 'last'): Promise<StepRecord[]> {
    return this.#readOnce((reader) => readSteps(reader, task, which))
  }

  async claim(query: ClaimQuery): Promise<Offer> {
    const now = this.clock.now()
    return this.#read((reader) => readOffer(reader, this.#leases.holders(now), query, now))
  }

  async renew(node: string, leaseMs: number): Promise<{ readonly wasHeld: boolean }> {
    this.#use()
    return { wasHeld: this.#leases.renew(node, leaseMs, this.clock.now()) }
  }

  /** There is no other node that could commit, so there is nothing to tell. */
  watch(): () => void {
    return () => {}
  }

  async moved(places: readonly ThreadPlace[]): Promise<readonly ThreadPlace[]> {
    return this.#read((reader) => readMoved(reader, places))
  }

  /** Beside other work, with the threads that were there before. Those that come are added by what brings them. */
  async #fillFilter(opened: Opened): Promise<void> {
    const { reader, filter } = opened
    for (let last = 0; !filter.isWhole; ) {
      await nextTurn()
      if (this.#opened !== opened) return
      const threads = readThreadKeys(reader, last, fillCountMax)
      for (const { key } of threads) filter.add(key)
      last = threads.at(-1)?.n ?? last
      filter.isWhole = threads.length < fillCountMax
    }
  }

  #use(): Opened {
    if (this.#opened) return this.#opened
    const message = `The store ${this.#options.path} is not open: call open() before using it`
    throw new HoldfastError('store_unavailable', message)
  }

  #read<Result>(work: (reader: Connection) => Result): Result {
    return this.#readOnce((reader) => reader.transaction('BEGIN', () => work(reader)))
  }

  /** For a single statement, which is of one moment by itself. */
  #readOnce<Result>(work: (reader: Connection) => Result): Result {
    const { reader, path } = this.#use()
    try {
      return work(reader)
    } catch (error) {
      throw translate(error, path)
    }
  }
}

/** The connection for reading, and a filter with room for as many threads again as there are. */
function openReader(path: string): Pick<Opened, 'reader' | 'filter'> {
  let reader: Connection | undefined
  try {
    reader = new Connection(path, 'read')
    return { reader, filter: new ThreadFilter(2 * highestThread(reader)) }
  } catch (error) {
    reader?.close()
    throw translateOpening(error, path)
  }
}

/** The lowest number above those of the tasks that a unit adds. A restored task brings a number nobody handed out. */
function nextTaskAfter(unit: Unit): number {
  const added = unit.tasks?.filter((put) => put.isNew) ?? []
  return Math.max(0, ...added.map((put) => (taskNumber(put.record.id) ?? -1) + 1))
}
