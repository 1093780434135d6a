import { type Principal, principalOf, type ThreadKey, threadKey, threadOf } from '../core/id.ts'
import { drop, dropTasks, protectedBy, type Retention, type TrimBounds, trim } from '../core/retention.ts'
import type { Removed } from '../core/unit.ts'
import type { Store, ThreadSummary } from '../stores/store.ts'
import { type Change, intent } from './entry.ts'
import type { Writer } from './writer.ts'

export interface PruningParts {
  readonly store: Store
  readonly writer: Writer
  /** Whether what is owed to `onEnded` is going to be called here. */
  readonly hasHook: boolean
  /** Whether the node is closing: what is begun is left as it is, to be gone on with later. */
  isStopped(): boolean
}

export interface PrunedCounts {
  /** Threads that went as a whole. */
  readonly threads: number
  /** Events that went, from logs that were trimmed and with threads. */
  readonly events: number
  /** Tasks that went with their threads. */
  readonly tasks: number
  /**
   * Threads that were left, because another program holds them, they cannot be read, or the store did not remove something of them
   * in time. What had gone of them is counted.
   */
  readonly skipped: number
}

/** What there is more to do of a thread, up to a number of its log if that was to be trimmed. */
export interface PruneRest {
  readonly upTo?: number
}

// What one call does, about a second's work, so that nobody waits for an answer for long.
const commitsMax = 500
// Records may come with large results, and only one number of each is wanted.
const taskPage = 20

/**
 * What one retention does to threads, one after the other.
 *
 * T1 Every change is a small commit through the writer, asked for when the one before is done: whatever others write
 *    goes in between.
 * T2 Whoever dies in between leaves a log with a shorter front, or a thread that is still in the list and lacks its oldest tasks
 *    and messages: asked again, the rest is done.
 * T3 When it has made as many commits as one call may, it stops where it is, in the middle of a thread if need be. The first thread
 *    that a call looks at is always done or has less to do afterwards, so calls that go on where the last one stopped come to an end.
 */
export class Pruning {
  readonly #parts: PruningParts
  readonly #retention: Retention
  readonly #isDry: boolean
  readonly #now: number
  #commitCount = 0
  #counts: PrunedCounts = { threads: 0, events: 0, tasks: 0, skipped: 0 }

  constructor(parts: PruningParts, retention: Retention, isDry: boolean) {
    this.#parts = parts
    this.#retention = retention
    this.#isDry = isDry
    this.#now = parts.store.clock.now()
  }

  /** What has gone by now, or would. */
  get counts(): PrunedCounts {
    return this.#counts
  }

  get isSpent(): boolean {
    return this.#commitCount >= commitsMax
  }

  /** A thread is left as it is by now. */
  skip(): void {
    this.#count({ skipped: 1 })
  }

  /** `upToMax` is how far its log may be trimmed, if an earlier call has begun with it. */
  async prune(principal: Principal, thread: ThreadSummary, upToMax?: number): Promise<PruneRest | undefined> {
    const key = threadKey(principal, thread.thread)
    const { threadsMs } = this.#retention
    const isOld = threadsMs !== undefined && thread.at < this.#now - threadsMs
    const dropping = isOld ? await this.#drop(principal, key, thread) : undefined
    return dropping ? dropping.rest : this.#trimOld(principal, key, thread, upToMax)
  }

  /** The rest of a log, of a thread that is not where it was in the list: something has happened in it. */
  async goOn(key: ThreadKey, upToMax: number): Promise<PruneRest | undefined> {
    const { head, first } = await this.#parts.store.events(key, { after: upToMax, limit: 0 })
    const thread = { thread: threadOf(key), head, first, at: this.#now }
    return this.#trimOld(principalOf(key), key, thread, upToMax)
  }

  async #trimOld(
    principal: Principal,
    key: ThreadKey,
    thread: ThreadSummary,
    upToMax = Number.POSITIVE_INFINITY,
  ): Promise<PruneRest | undefined> {
    const { first } = thread
    const upTo = Math.min(upToMax, await this.#reach(key, thread))
    if (upTo < first) return undefined
    const protectedFrom = await this.#protectedFrom(principal, key, first)
    if (protectedFrom <= first) return undefined
    if (!this.#isDry) return (await this.#trim(key, { first, upTo, protectedFrom })) ? undefined : { upTo }
    this.#count({ events: Math.min(upTo, protectedFrom - 1) - first + 1 })
    return undefined
  }

  /** The last number that goes by age or by count; never the newest, by which a thread is found again. */
  async #reach(key: ThreadKey, thread: ThreadSummary): Promise<number> {
    const { eventsMs, eventsPerThread } = this.#retention
    const byCount = eventsPerThread === undefined ? 0 : thread.head - eventsPerThread
    const byAge = eventsMs === undefined ? 0 : await this.#lastBefore(key, thread, this.#now - eventsMs)
    return Math.min(thread.head - 1, Math.max(byCount, byAge))
  }

  /** The last event before an instant, by halving, because instants never go back within a thread. */
  async #lastBefore(key: ThreadKey, { first, head, at }: ThreadSummary, instant: number): Promise<number> {
    if (at < instant) return head
    const isBefore = async (seq: number): Promise<boolean> => {
      const { events } = await this.#parts.store.events(key, { after: seq - 1, limit: 1 })
      return events[0] !== undefined && events[0].at < instant
    }
    if (!(await isBefore(first))) return first - 1
    let [before, notBefore] = [first, head]
    while (notBefore - before > 1) {
      const middle = Math.floor((before + notBefore) / 2)
      if (await isBefore(middle)) before = middle
      else notBefore = middle
    }
    return before
  }

  /**
   * The lowest number that live tasks and untaken results protect. The live ones are read first: one that ends meanwhile is
   * then counted twice, but never not at all. Looks no further when not even the first event may go.
   */
  async #protectedFrom(principal: Principal, key: ThreadKey, first: number): Promise<number> {
    const { store } = this.#parts
    const live = await store.livePart(key)
    let from = protectedBy(live?.tasks ?? [])
    const untaken = { principal, thread: threadOf(key), untaken: true, limit: taskPage }
    for (let cursor: string | undefined; from > first; ) {
      const page = await store.tasks({ ...untaken, ...(cursor !== undefined && { cursor }) })
      from = Math.min(from, protectedBy(page.tasks))
      cursor = page.cursor
      if (cursor === undefined) break
    }
    return from
  }

  /** Says whether all of it is done. */
  async #trim(key: ThreadKey, bounds: TrimBounds): Promise<boolean> {
    let { first } = bounds
    while (!this.#mustStop) {
      const from = first
      const { removed } = await this.#change(intent(key, 'trim', (live) => trim(live, { ...bounds, first: from })))
      if (!removed?.events) return true
      first += removed.events
    }
    return false
  }

  get #mustStop(): boolean {
    return this.isSpent || this.#parts.isStopped()
  }

  /** What a change has removed, if it came about. */
  async #change(change: Change<boolean>): Promise<{ readonly removed?: Removed | undefined }> {
    this.#commitCount += 1
    const done = await this.#parts.writer.change(change)
    const removed = 'refusal' in done ? undefined : done.verdict?.removed
    this.#count(removed)
    return { removed }
  }

  #count(more: Partial<PrunedCounts> = {}): void {
    const { threads, events, tasks, skipped } = this.#counts
    this.#counts = {
      threads: threads + (more.threads ?? 0),
      events: events + (more.events ?? 0),
      tasks: tasks + (more.tasks ?? 0),
      skipped: skipped + (more.skipped ?? 0),
    }
  }

  /**
   * Undefined if the thread stays. Its log and all but a few of its tasks go first, with what was said in them, a piece at a time,
   * so that little is left for the last commit.
   */
  async #drop(
    principal: Principal,
    key: ThreadKey,
    thread: ThreadSummary,
  ): Promise<{ readonly rest?: PruneRest } | undefined> {
    if ((await this.#restingRev(principal, key, thread)) === undefined) return undefined
    const { head, first } = thread
    if (this.#isDry) {
      this.#count({ threads: 1, events: head - first + 1, tasks: await this.#taskCount(principal, key) })
      return {}
    }
    await this.#trim(key, { first, upTo: head - 1, protectedFrom: Number.POSITIVE_INFINITY })
    for (let rev = await this.#restingRev(principal, key, thread); rev !== undefined; rev += 1) {
      if (this.#mustStop) return { rest: {} }
      const isLast = !(await this.#hasManyTasks(principal, key))
      const { removed } = await this.#change(intent(key, 'erase', dropAt(rev, isLast)))
      if (removed && isLast) this.#count({ threads: 1 })
      if (!removed || isLast) break
    }
    return {}
  }

  async #hasManyTasks(principal: Principal, key: ThreadKey): Promise<boolean> {
    const page = await this.#parts.store.tasks({ principal, thread: threadOf(key), limit: taskPage })
    return page.cursor !== undefined
  }

  /**
   * The revision at which nothing lives in a thread, no result waits, no call of `onEnded` is owed, and nothing has happened
   * since it was listed; undefined if that is not so. What happens after it shows in the revision: without a live task
   * nothing is written that does not raise it.
   */
  async #restingRev(principal: Principal, key: ThreadKey, { head }: ThreadSummary): Promise<number | undefined> {
    const { store } = this.#parts
    const live = await store.livePart(key)
    if (!live || live.tasks.length > 0) return undefined
    const untaken = await store.tasks({ principal, thread: threadOf(key), untaken: true, limit: 1 })
    if (untaken.tasks.length > 0 || (await this.#owesHook(key))) return undefined
    const page = await store.events(key, { after: head, limit: 1 })
    return page.head === head ? live.rev : undefined
  }

  /** What nobody here is going to call keeps nothing. */
  async #owesHook(key: ThreadKey): Promise<boolean> {
    const { store, hasHook } = this.#parts
    if (!hasHook) return false
    return (await store.tasks({ key, owedBy: Number.MAX_SAFE_INTEGER, limit: 1 })).tasks.length > 0
  }

  async #taskCount(principal: Principal, key: ThreadKey): Promise<number> {
    const { store } = this.#parts
    let count = 0
    for (let cursor: string | undefined; ; ) {
      const query = { principal, thread: threadOf(key), limit: taskPage }
      const page = await store.tasks({ ...query, ...(cursor !== undefined && { cursor }) })
      count += page.tasks.length
      cursor = page.cursor
      if (cursor === undefined) return count
    }
  }
}

function dropAt(rev: number, isLast: boolean): Change<boolean>['decide'] {
  return (live) => (isLast ? drop(live, rev) : dropTasks(live, rev))
}
