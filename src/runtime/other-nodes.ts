import type { EventRow } from '../core/event-row.ts'
import type { TaskId, ThreadKey } from '../core/id.ts'
import type { LivePart } from '../core/live-part.ts'
import { isOpen } from '../core/question.ts'
import { isTerminal } from '../core/status.ts'
import type { Committed, Unit } from '../core/unit.ts'
import type { Store, ThreadPlace } from '../stores/store.ts'
import type { Execution } from './execution.ts'
import type { Executor } from './executor.ts'
import type { Feed } from './feed.ts'
import type { Logger } from './logger.ts'
import type { Owners } from './owners.ts'
import type { Signals } from './signals.ts'
import type { Writer } from './writer.ts'

export interface OtherNodesParts {
  readonly store: Store
  readonly writer: Pick<Writer, 'forget'>
  readonly executor: Executor
  readonly signals: Signals
  readonly feed: Feed
  readonly owners: Owners
  readonly log: Logger
}

/**
 * What other nodes commit to the threads that matter here: those that are watched, executed in, or waited for.
 *
 * O1 A notice tells of a thread at once. What no notice told of is found by `poll`, with one question to the store for all
 *    threads, and one more for each thread that has changed.
 * O2 What is found is told as if it had been committed here: watchers look, a cancelled task is told, one that another node
 *    has by now is lost to this one, whoever waits goes on. Told twice it does no harm.
 * O3 What this node commits is no news, as long as it follows on what is known. Where it does not, and where something begins to
 *    matter of which nobody can say that all was told to it, nothing is known, so that the next look finds it changed.
 * O4 A log that ends before where it was is none that anybody here can go on with: the store was put back to an earlier state, from
 *    a copy or by a failover that lost something. Who watches it is ended, and what is executed in it told what is so now.
 */
export class OtherNodes {
  readonly #parts: OtherNodesParts
  /** How far the threads that matter have come, as far as everybody here was told. */
  readonly #known = new Map<ThreadKey, ThreadPlace>()
  /** The threads of tasks whose end is waited for, and those tasks by thread. */
  readonly #threads = new Map<TaskId, ThreadKey>()
  readonly #awaited = new Map<ThreadKey, Set<TaskId>>()
  /** Found ended once. Who ended it here is told by that; who finds it ended at the next look was not. */
  readonly #ended = new Set<TaskId>()
  readonly #hinted = new Set<ThreadKey>()
  #checking: Promise<void> | undefined

  constructor(parts: OtherNodesParts) {
    this.#parts = parts
    parts.signals.onLocated = (task, thread) => this.#expect(task, thread)
  }

  /** Another node may have written to the thread; without `isChanged` only events, perhaps these, which matter to nobody but watchers. */
  hint(key: ThreadKey, isChanged: boolean, row?: EventRow): void {
    if (row && !isChanged) return this.#parts.feed.grown(key, row)
    this.#parts.feed.hint(key)
    if (!isChanged) return
    if (!this.#awaited.has(key) && this.#parts.executor.inThread(key).length === 0) return
    this.#hinted.add(key)
    this.#checking ??= this.#checkHinted()
  }

  /** O3. This node has committed to a thread, and what it began there has begun. */
  committed(unit: Unit, { first }: Committed): void {
    const { thread: key, rev } = unit
    const known = this.#known.get(key)
    const head = first + unit.events.length - 1
    if (!known) {
      // Whoever is here was begun by this commit, and so knows all that was before it.
      if (rev !== undefined && this.#isFirstHere(unit)) this.#known.set(key, { key, head, rev: rev + 1 })
      return
    }
    if (rev !== undefined && rev !== known.rev) this.#known.delete(key)
    else if (known.head + 1 === first) this.#known.set(key, { key, head, rev: rev === undefined ? known.rev : rev + 1 })
    else if (rev !== undefined) this.#known.set(key, { ...known, rev: rev + 1 })
  }

  /** Looks at everything that matters. What cannot be read keeps nothing else from being found. */
  async poll(): Promise<void> {
    const { executor, feed } = this.#parts
    const locating = this.#checkUnlocated()
    const keys = new Set([...feed.watched(), ...executor.threads(), ...this.#awaited.keys()])
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key)
    await Promise.all([locating, keys.size > 0 && this.#check(keys)])
  }

  /** Looks for threads of principals that are watched as a whole. */
  pollFirehoses(): Promise<void> {
    return this.#parts.feed.pollFirehoses()
  }

  async #checkHinted(): Promise<void> {
    try {
      while (this.#hinted.size > 0) {
        const keys = new Set(this.#hinted)
        this.#hinted.clear()
        await this.#check(keys)
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'what another node wrote could not be read; it is looked for again')
    } finally {
      this.#checking = undefined
    }
  }

  async #check(keys: ReadonlySet<ThreadKey>): Promise<void> {
    const { store, feed } = this.#parts
    const before = new Map([...keys].map((key) => [key, this.#place(key)]))
    const moved = await store.moved([...before.values()])
    await Promise.all(
      moved.map(async (place) => {
        const known = before.get(place.key)
        if (known && place.head < known.head) return this.#fellBack(place, known)
        const isChanged = place.rev !== known?.rev
        feed.moved(place.key, place.head, isChanged)
        // Emits of another node move the head alone, and mean nothing to whoever is executed here.
        if (isChanged) await this.#look(place.key)
        this.#note(place)
      }),
    )
  }

  /** O4. */
  async #fellBack(place: ThreadPlace, { head: was }: ThreadPlace): Promise<void> {
    const { feed, log } = this.#parts
    const { key: thread, head } = place
    log.error({ thread, head, was }, fellBack)
    feed.closeThread(thread)
    await this.#look(thread)
    this.#known.set(thread, place)
  }

  #isFirstHere({ thread, tasks = [] }: Unit): boolean {
    const executions = this.#parts.executor.inThread(thread)
    const isBegun = ({ task }: Execution) => tasks.some(({ record }) => record.id === task)
    return executions.length > 0 && !this.#awaited.has(thread) && executions.every(isBegun)
  }

  #place(key: ThreadKey): ThreadPlace {
    const { head = 0, rev = 0 } = this.#known.get(key) ?? {}
    // Those who watch have read on since, and the head matters to nobody else.
    return { key, head: Math.max(head, this.#parts.feed.headOf(key)), rev }
  }

  /** What was committed here meanwhile is further than what was read. */
  #note({ key, head, rev }: ThreadPlace): void {
    const known = this.#known.get(key)
    if (known && known.rev > rev) return
    this.#known.set(key, { key, head: Math.max(head, known?.rev === rev ? known.head : 0), rev })
  }

  /** O2. */
  async #look(key: ThreadKey): Promise<void> {
    const { store, writer, executor } = this.#parts
    writer.forget(key)
    // Before the read: what begins after it is told all there is by its own start.
    const executions = executor.inThread(key)
    if (executions.length > 0) {
      const part = await store.livePart(key)
      for (const execution of executions) if (!execution.isClosed) this.#tell(execution, part)
    }
    await Promise.all([...(this.#awaited.get(key) ?? [])].map((task) => this.#checkEnd(task)))
  }

  #tell(execution: Execution, part: LivePart | undefined): void {
    const { executor, signals } = this.#parts
    const { task, epoch } = execution
    const record = part?.tasks.find(({ id }) => id === task)
    if (!part || record?.status !== 'running' || record.epoch !== epoch) return execution.fenced()
    if (record.cancelRequestedAt !== undefined) executor.cancel(task)
    executor.retime(record)
    const hasMail = part.mail.some((mail) => mail.task === task) || part.ended.some((end) => end.parent?.task === task)
    if (hasMail) signals.fire(`mail:${task}`)
    if (part.questions.some((question) => question.task === task && !isOpen(question))) {
      signals.fire(`questions:${task}`)
    }
  }

  /** Finds out where the tasks are whose end is waited for, and forgets those that nobody waits for any more. */
  async #checkUnlocated(): Promise<void> {
    const { signals, owners } = this.#parts
    const awaited = new Set([...signals.awaitedEnds(), ...owners.waiting()])
    for (const task of this.#threads.keys()) if (!awaited.has(task)) this.#forget(task)
    for (const task of this.#ended) if (!awaited.has(task)) this.#ended.delete(task)
    const unlocated = [...awaited].filter((task) => !this.#threads.has(task))
    await Promise.all(unlocated.map((task) => this.#checkEnd(task)))
  }

  async #checkEnd(task: TaskId): Promise<void> {
    const { store, executor, signals, owners } = this.#parts
    // Its end will be heard of from its own commit.
    if (executor.get(task)) return
    const record = await store.task(task)
    if (!record) return signals.fire(`end:${task}`)
    if (!isTerminal(record.status)) return this.#expect(task, record.key)
    this.#forget(task)
    signals.fire(`end:${task}`, record)
    if (!owners.isWaiting(task)) return
    if (this.#ended.has(task)) owners.tellEnd(record)
    this.#ended.add(task)
  }

  #expect(task: TaskId, key: ThreadKey): void {
    // It may have ended since it was read, before anybody knew that this thread matters.
    if (!this.#threads.has(task)) this.#known.delete(key)
    this.#threads.set(task, key)
    this.#awaited.set(key, (this.#awaited.get(key) ?? new Set()).add(task))
  }

  #forget(task: TaskId): void {
    const key = this.#threads.get(task)
    this.#threads.delete(task)
    const awaited = key === undefined ? undefined : this.#awaited.get(key)
    if (key !== undefined && awaited?.delete(task) && awaited.size === 0) this.#awaited.delete(key)
  }
}

const fellBack =
  'the log of a thread ends before where it was: the store was put back to an earlier state. Stop all nodes, and start them again'
