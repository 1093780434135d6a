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
import { afterMs, ServerClock } from './clock.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { EventReader } from './event-reader.ts'
import { lookLengthMax, readEvents } from './event-reads.ts'
import { translate, unavailable } from './failure.ts'
import { allocateNumbers, renewLeaseOf } from './leases.ts'
import { LivePartReader } from './live-part-reader.ts'
import { type Location, locate } from './location.ts'
import { readMoved } from './moved.ts'
import { type NoticeListener, newsOf } from './notice-text.ts'
import { readOffer } from './offer.ts'
import { listQuestions } from './questions.ts'
import { checkRights } from './rights.ts'
import { checkServer, migrate } from './schema.ts'
import { StoreConnections } from './store-connections.ts'
import { TaskReader } from './task-reader.ts'
import { listTasks, readSteps, readTasks } from './task-reads.ts'
import { listThreads } from './thread-list.ts'
import { readMessages, readSnapshot } from './thread-reads.ts'

export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `?schema=NAME` if it is not `holdfast`. */
  readonly url: string
  /** For tests; else the clock is the server's. */
  readonly clock?: { now(): number }
  /** Whether opening makes the schema and brings it up to date (the default), or refuses a database that lacks it. */
  readonly migrate?: boolean
  /** The most connections that read at the same time; beside them there are six at most. */
  readonly readers?: number
  /** For tests; else a commit that was not answered for 5 s is late, though the server can be reached. */
  readonly lateMs?: number
  /** Is told what works but not as well as it could. */
  readonly warn?: (text: string) => void
}

/** A store in a database of a PostgreSQL server, for any number of nodes. */
export function postgresStore(options: PostgresStoreOptions): Store {
  return new PostgresStore(options)
}

// Whether a commit was made may stay unknown for as long as a network is gone. By then callers are better told to come back; what
// is read to decide upon has failed by then.
const lateMsDefault = 5_000
const oldLaneMs = 90 * 24 * 60 * 60 * 1000

const selectCommon = 'SELECT holdfast.clock_ms() AS now, m.channel FROM holdfast.meta m'
const forgetLanes = 'DELETE FROM holdfast.lanes WHERE used_at < holdfast.clock_ms() - $1::bigint'

/**
 * G1 All writing goes through the lane; what is told to other nodes is told after the commit was answered.
 * G2 A read is one statement, so it is of one moment, on any of a few connections; it sees every commit that was answered. Of a live
 *    part what is large comes after it (P1 of `LivePartReader`).
 * G3 Leases are by the server's clock, whatever this machine's is.
 * G4 What a node needs to live and to decide has connections of its own, and a renewal comes first on them: however many slow
 *    reads users ask for, its lease holds, and it accepts, starts and cancels. What it takes over is read by a connection of
 *    its own again, because that may be much, and for no decision to wait for it.
 */
class PostgresStore implements Store {
  readonly kind = 'postgres'
  readonly isDurable = true
  readonly isShared = true
  readonly clock: { now(): number }
  readonly #serverClock = new ServerClock()
  readonly #options: PostgresStoreOptions
  readonly #place: Location
  readonly #lateMs: number
  readonly #tasks = new TaskReader((ids) => this.#decide((connection) => readTasks(connection, ids, this.#lateMs)))
  readonly #liveParts: LivePartReader
  readonly #events = new EventReader((asks) => this.#read((connection) => readEvents(connection, asks, this.#lateMs)))
  #opened: StoreConnections | undefined

  constructor(options: PostgresStoreOptions) {
    this.#options = options
    this.#place = locate(options.url)
    this.#lateMs = options.lateMs ?? lateMsDefault
    this.#liveParts = new LivePartReader((work) => this.#decide(work), this.#lateMs)
    this.clock = options.clock ?? this.#serverClock
  }

  async open(): Promise<void> {
    if (this.#opened) throw new HoldfastError('store_locked', `The store ${this.#place.name} is open already`)
    const { readers, warn = warnProcess } = this.#options
    const options = { ...(readers !== undefined && { readers }), connectMs: this.#lateMs, warn }
    const opened = new StoreConnections(this.#place, options)
    this.#opened = opened
    try {
      opened.notices.listenOn(await opened.reading.use((connection) => this.#prepare(connection)))
    } catch (error) {
      this.#opened = undefined
      await opened.reading.close()
      throw translate(error, this.#place.name)
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened
    if (!opened) return
    this.#opened = undefined
    await opened.close()
    this.#liveParts.forget()
  }

  async commit(units: readonly Unit[], onLate: (why?: unknown) => void = () => {}): Promise<Verdict[]> {
    const opened = this.#use()
    const { lane, notices } = opened
    const now = () => this.#options.clock?.now()
    const tellLate = once(onLate)
    const stop = afterMs(this.#lateMs, tellLate)
    const committing = units.length === 0 ? lane.probe() : lane.commit(units, now, tellLate)
    const { at, verdicts, bodies } = await committing.finally(stop)
    opened.wrote()
    this.#serverClock.heard(at)
    for (const [n, unit] of units.entries()) {
      const verdict = verdicts[n]
      if (verdict?.committed) notices.tell(unit.thread, newsOf(unit, verdict, bodies?.get(n)))
    }
    return verdicts
  }

  async allocate(count: number): Promise<number> {
    return this.#decide((connection) => allocateNumbers(connection, count, this.#lateMs))
  }

  async livePart(key: ThreadKey): Promise<LivePart | undefined> {
    return this.#liveParts.read(key)
  }

  async snapshot(key: ThreadKey, limits: SnapshotLimits): Promise<SnapshotRecords | undefined> {
    return this.#read((connection) => readSnapshot(connection, key, limits))
  }

  async events(key: ThreadKey, query: EventQuery): Promise<EventPage> {
    if (!query.task) return this.#events.read({ key, query })
    const look = async (after: number, lookLength?: number): Promise<EventPage> => {
      const asks = [{ key, query: { ...query, after } }]
      const work = (connection: Connection) => readEvents(connection, asks, this.#lateMs, lookLength)
      const [page] = await (query.toDecide ? this.#resume(work) : this.#read(work))
      if (!page) throw new Error('A page was not answered')
      return page
    }
    // Mostly it fills a page. If there is nothing, what is asked for is rare, and the looks get longer.
    let page = await look(query.after)
    const last = Math.min(page.head, query.task.last)
    while (page.events.length === 0 && page.upTo < last && query.limit > 0) page = await look(page.upTo, lookLengthMax)
    return page
  }

  async messages(key: ThreadKey, query: MessageQuery): Promise<MessagePage> {
    return this.#read((connection) => readMessages(connection, key, query))
  }

  async task(id: TaskId): Promise<TaskRecord | undefined> {
    return this.#tasks.read(id)
  }

  async tasks(query: TaskQuery | OwedQuery): Promise<TaskPage> {
    const work = (connection: Connection) => listTasks(connection, query, this.#lateMs)
    return 'toDecide' in query ? this.#decide(work) : this.#read(work)
  }

  async threads(query: ThreadQuery): Promise<ThreadPage> {
    return this.#read((connection) => listThreads(connection, query))
  }

  async questions(query: QuestionQuery): Promise<QuestionRecord[]> {
    const work = (connection: Connection) => listQuestions(connection, query)
    return 'principal' in query ? this.#read(work) : this.#decide(work)
  }

  async steps(task: TaskId, which?: 'last'): Promise<StepRecord[]> {
    return this.#resume((connection) => readSteps(connection, task, which))
  }

  async claim(query: ClaimQuery): Promise<Offer> {
    const work = (connection: Connection) => readOffer(connection, query, this.#options.clock?.now())
    // To count takes the longer the more there is, and nothing waits for it.
    const { offer, now } = await (query.withCounts ? this.#read(work) : this.#decide(work))
    this.#serverClock.heard(now)
    return offer
  }

  async renew(node: string, leaseMs: number): Promise<{ readonly wasHeld: boolean }> {
    const opened = this.#use()
    if (leaseMs > 0) opened.limitTo(leaseMs)
    const given = this.#options.clock?.now()
    const work = (connection: Connection) => renewLeaseOf(connection, node, leaseMs, given)
    const { now, wasHeld } = await this.#decide(work, { isUrgent: true })
    opened.wrote()
    this.#serverClock.heard(now)
    return { wasHeld }
  }

  watch(listener: NoticeListener): () => void {
    return this.#use().notices.watch(listener)
  }

  async moved(places: readonly ThreadPlace[]): Promise<readonly ThreadPlace[]> {
    return this.#decide((connection) => readMoved(connection, places))
  }

  /** The answer is the channel of notices. */
  async #prepare(connection: Connection): Promise<string> {
    await checkServer(connection, this.#place)
    await checkRights(connection, this.#place)
    await migrate(connection, this.#place, this.#options.migrate ?? true)
    const [row] = await connection.query<{ now: number; channel: string }>({ sql: selectCommon })
    if (!row) throw new Error('The store did not say what nodes share')
    this.#serverClock.heard(row.now)
    await connection.query({ sql: forgetLanes, values: [oldLaneMs] })
    return row.channel
  }

  #use(): StoreConnections {
    if (this.#opened) return this.#opened
    throw unavailable(this.#place.name, 'it is not open. Call open() before using it')
  }

  #read<Result>(work: Work<Result>): Promise<Result> {
    return this.#on(this.#use().reading, work)
  }

  #resume<Result>(work: Work<Result>): Promise<Result> {
    return this.#on(this.#use().resuming, work)
  }

  #decide<Result>(work: Work<Result>, options: { readonly isUrgent?: boolean } = {}): Promise<Result> {
    return this.#on(this.#use().deciding, work, options)
  }

  async #on<Result>(
    connections: Connections,
    work: Work<Result>,
    options: { readonly isUrgent?: boolean } = {},
  ): Promise<Result> {
    try {
      return await connections.use(work, options)
    } catch (error) {
      throw translate(error, this.#place.name)
    }
  }
}

type Work<Result> = (connection: Connection) => Promise<Result>

function once(act: (why?: unknown) => void): (why?: unknown) => void {
  let isDone = false
  return (why) => {
    if (!isDone) act(why)
    isDone = true
  }
}

function warnProcess(text: string): void {
  process.emitWarning(text, 'HoldfastWarning')
}
