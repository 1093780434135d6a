import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import type { EventDraft } from '../core/event.ts'
import type { ThreadKey } from '../core/id.ts'
import type { StepRecord } from '../core/step.ts'
import type { Report, Verdict } from '../core/unit.ts'
import type { Store } from '../stores/store.ts'
import { Batch, type BatchSurroundings, batchBytesMax, type Item } from './batch.ts'
import { type Clock, nextTurn, stopwatch } from './clock.ts'
import type { Company } from './company.ts'
import { type Author, type Change, type Done, type Entry, isEndsOnly, isIntent, putBack, recording } from './entry.ts'
import { type FatalParts, tellFatal } from './fatal.ts'
import { Lanes } from './lanes.ts'
import type { Metrics } from './metrics.ts'
import { Outage } from './outage.ts'
import { type Lack, Preparation } from './preparation.ts'
import { refuseAll, refuseIntents, refuseIntentsIn } from './refuse-waiting.ts'
import { giveUp, type SettleParts, settleBatch, withdraw } from './settle-batch.ts'
import { Suspects } from './suspects.ts'
import { unavailable } from './unavailable.ts'
import { changedIfFollowed, sparing, type Untold } from './untold.ts'
import { Waiters } from './waiters.ts'

export interface WriterParts extends SettleParts, FatalParts {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly around: BatchSurroundings
  /** What ends wait for, if they do. */
  readonly company?: Company
}

// An emit entry stops growing here, so that the lanes' turns stay short.
const emitBytesMax = 32 * 1024

/**
 * Collects what all tasks and callers want to write and commits it in groups. While one batch is being committed the
 * next gathers, so the group grows with the load and an idle writer commits at once.
 *
 * W1 One batch is on its way at a time, and what is in one lane keeps its order.
 * W2 A change is decided when its batch is built, from live parts whose units are all committed or in that batch.
 * W3 Committed, then published, then answered (`settle-batch.ts`).
 * W4 While the store is down nothing an execution wrote is lost or reported as done: it is written again. Intents are
 *    refused, because their caller can ask again; so with nothing left to write an empty batch asks whether it is back.
 *    A commit of which nobody can tell whether it was made, for some seconds or because the store cannot be reached, counts as a
 *    store that is down until it is answered.
 * W5 A unit that the store cannot take fails alone: its batch is taken apart until it stands alone (`suspects.ts`). Where other
 *    nodes may have used a new id of it, it is decided once more, with another. A thread that cannot be read, or that another
 *    program has locked, keeps no other waiting (A1, U3), and none of its tasks fails for it.
 * W6 Where enough waits the next batch goes on its way before the last one is told (`untold.ts`), so that both are worked on at the
 *    same time. Only what was committed whole waits so, and in threads that it changed nothing is decided meanwhile.
 */
export class Writer {
  readonly #parts: WriterParts
  readonly #lanes = new Lanes<Entry>()
  readonly #preparation: Preparation
  readonly #suspects: Suspects
  #isRunning = false
  #isClosed = false
  /** Whether the last batch accepted what callers asked for. */
  #hasAccepted = false
  readonly #outage: Outage
  readonly #idle = new Waiters()
  readonly #onBatch = new Waiters()
  #batchCount = 0
  #untold: Untold | undefined

  constructor(parts: WriterParts) {
    this.#parts = parts
    this.#preparation = new Preparation(parts)
    this.#suspects = new Suspects(this.#preparation)
    this.#outage = new Outage({
      ...parts,
      onDown: (error) => refuseIntents(this.#lanes, error),
      isWriting: () => this.#isWriting,
    })
  }

  get isDown(): boolean {
    return this.#outage.isDown
  }

  /** A whole batch waits already, and not for locked threads: what is emitted now is better emitted later. */
  get isCrowded(): boolean {
    return this.#lanes.bytes - this.#suspects.lockedBytes >= batchBytesMax
  }

  /** Threads in which nothing can be decided for a while (A1). */
  get resting(): readonly ThreadKey[] {
    return this.#preparation.resting
  }

  /** What is written to the thread waits, because another program was found to hold it. */
  isLocked(thread: ThreadKey): boolean {
    return this.#preparation.locked.has(thread)
  }

  change<Value>(change: Change<Value>): Promise<Done<Value>> {
    if (this.#isClosed) return Promise.reject(new HoldfastError('draining', 'The runtime is closed'))
    const isRefused = this.isDown || this.#preparation.isLeftAlone(change.thread)
    if (change.isIntent && isRefused) return Promise.reject(unavailable())
    return new Promise((resolve, reject) => {
      const settle = resolve as (done: Done<unknown>) => void
      const askedAt = this.#parts.threads.nextMoment()
      this.#push(change.lane, { kind: 'change', change, askedAt, bytes: 512, resolve: settle, reject })
    })
  }

  emit(author: Author, event: EventDraft, bytes: number, report: Report | undefined): void {
    const last = this.#lanes.last(author.task)
    if (last?.kind === 'emit' && last.author === author && last.bytes < emitBytesMax) {
      last.events.push(event)
      this.#lanes.grow(last, bytes)
      last.report = report ?? last.report
      return
    }
    this.#push(author.task, { kind: 'emit', author, events: [event], bytes, report })
  }

  /** Records steps; what the task emitted last and is not on its way yet goes into the same unit. */
  record(author: Author, steps: readonly StepRecord[]): Promise<void> {
    const emits = this.#lanes.takeLast(author.task, (entry) => entry.kind === 'emit' && entry.author === author)
    return new Promise((resolve, reject) => {
      this.#push(author.task, { ...recording(author, steps, emits), resolve, reject })
    })
  }

  /** Resolves when all that was asked for by now is committed or refused. */
  async settled(): Promise<void> {
    while (this.#isRunning) await this.#idle.wait()
  }

  /** What it returns waits for the batch that is on its way, and says whether any was since this call. */
  batches(): () => Promise<boolean> {
    const [wasRunning, count] = [this.#isRunning, this.#batchCount]
    return async () => {
      const isAny = wasRunning || this.#isRunning || this.#batchCount !== count
      if (this.#isRunning) await this.#onBatch.wait()
      return isAny
    }
  }

  /** Another node has changed the thread: what is decided next is decided from what is so by now. */
  forget(thread: ThreadKey): void {
    this.#parts.threads.discard(thread)
  }

  /** Something else was not answered: finds out whether the store is there, if nothing that is written does. */
  doubt(): void {
    if (!this.isDown) void this.#outage.ask()
  }

  /** Whether the store takes commits, as the batch that is on its way shows, or else an empty one. */
  async isStoreThere(): Promise<boolean> {
    if (this.#isWriting && !this.isDown) await Promise.race([this.#onBatch.wait(), this.#outage.wait()])
    if (!this.isDown) await this.#outage.ask()
    return !this.isDown
  }

  /** Resolves when the store is found to be down, or all that is left waits for threads that rest. */
  async down(): Promise<void> {
    while (!this.isDown && !this.#preparation.isStuck) await this.#outage.wait()
  }

  /** Waits until all is written, unless the store is down: then what waits is given up, as a crash would give it up. */
  async close(): Promise<void> {
    await Promise.race([this.settled(), this.down()])
    this.#isClosed = true
    this.#outage.close()
    this.#preparation.close()
    refuseAll(this.#lanes)
  }

  /** Whether it finds out by itself if the store is there. */
  get #isWriting(): boolean {
    return this.#isRunning && !this.#preparation.isStuck
  }

  #push(lane: string, entry: Entry): void {
    this.#lanes.push(lane, entry)
    if (isIntent(entry)) this.#parts.company?.come()
    this.#preparation.wake()
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (!this.#lanes.isEmpty && !this.#isClosed) {
      await nextTurn()
      if (this.#hasAccepted && isEndsOnly(this.#lanes.entries())) await this.#parts.company?.wait()
      // The threads of all that waits now, so that nothing misses the batch for it.
      await this.#prepare(0, this.#preparation.missing(this.#lanes.entries()))
      const batch = this.#nextBatch()
      this.#batchCount += 1
      if (batch.idsWanted > 0) {
        await this.#prepare(batch.idsWanted, new Set())
        batch.fill(this.#lanes)
      }
      // What the next batch needs is read while this one is being committed, unless this one writes to it.
      const written = new Set(batch.items.flatMap((item) => item.unit?.thread ?? []))
      const ahead = this.#preparation.get(batch.idsWanted, batch.missing.difference(written))
      await this.#commit(batch)
      while (this.#untold) await this.#follow(this.#untold)
      await this.#judge(await ahead)
      await this.#prepare(0, batch.missing.intersection(written))
      this.#parts.threads.trim()
      if (batch.isEmpty && this.#suspects.isEmpty)
        await this.#preparation.rest(batch.missing, this.#suspects.isDue(this.#lanes), this.#outage.tell)
    }
    this.#isRunning = false
    if (this.#isClosed) refuseAll(this.#lanes)
    this.#onBatch.release()
    this.#idle.release()
    if (this.isDown) void this.#outage.ask()
  }

  #nextBatch(changed: ReadonlySet<ThreadKey> = new Set()): Batch {
    const filter = sparing(changed, this.#suspects.next(this.#lanes))
    return new Batch(this.#lanes, this.#parts.threads, this.#parts.around, filter)
  }

  async #prepare(idsWanted: number, threads: ReadonlySet<ThreadKey>): Promise<void> {
    if (idsWanted > 0 || threads.size > 0) await this.#judge(await this.#preparation.get(idsWanted, threads))
  }

  /** What executions want to write to a thread that cannot be read stays, as it does while the store is down (W4). */
  async #judge(lacks: readonly Lack[]): Promise<void> {
    if (lacks.length === 0) return
    const found = await this.#preparation.judge(lacks, this.#outage.onLate)
    if ('away' in found) return this.#outage.pause(found.away)
    this.#outage.end()
    refuseIntentsIn(this.#lanes, found.unreadable)
  }

  async #commit(batch: Batch, tellLast?: () => void): Promise<void> {
    const { items, units } = batch
    this.#hasAccepted = items.some(({ entry }) => isIntent(entry) && entry.change.operation === 'accept')
    const seconds = stopwatch()
    const committing = units.length > 0 ? this.#parts.store.commit(units, this.#outage.onLate) : []
    tellLast?.()
    let verdicts: readonly Verdict[]
    try {
      verdicts = await committing
    } catch (error) {
      return this.#failed(items, error).finally(() => this.#onBatch.release())
    }
    if (units.length > 0) {
      this.#parts.metrics.flushed(seconds())
      this.#preparation.recovered(items)
      this.#outage.end()
    }
    const changed = this.#suspects.isEmpty && changedIfFollowed(this.#parts, this.#lanes, batch, verdicts)
    if (changed) this.#untold = { tell: () => this.#tell(items, verdicts), changed }
    else this.#tell(items, verdicts)
  }

  #tell(items: readonly Item[], verdicts: readonly Verdict[]): void {
    const again = settleBatch(this.#parts, items, verdicts)
    putBack(this.#lanes, again)
    this.#suspects.cleared(items, again)
    this.#onBatch.release()
  }

  async #follow({ tell, changed }: Untold): Promise<void> {
    this.#untold = undefined
    const batch = this.#nextBatch(changed)
    // A store may answer within a turn, and a flood would keep the event loop from everybody else.
    await Promise.all([this.#commit(batch, tell), nextTurn()])
  }

  async #failed(items: readonly Item[], error: unknown): Promise<void> {
    const entries = items.map((item) => item.entry)
    const isPassing = isHoldfastError(error, 'store_failed') || isHoldfastError(error, 'store_unavailable')
    const isOfUnits = !isPassing && !isHoldfastError(error, 'thread_locked')
    const areIdsSpent = isOfUnits && items.length === 1 && this.#parts.store.isShared
    const units = withdraw(this.#parts, items, areIdsSpent)
    this.#parts.metrics.commitFailed(new Set(units.map((unit) => unit.operation)))
    if (isHoldfastError(error, 'store_failed')) tellFatal(this.#parts, error)
    if (isPassing) {
      this.#suspects.passed()
      putBack(this.#lanes, entries)
      return this.#outage.pause(error)
    }
    // It has judged the batch, so it is there.
    this.#outage.end()
    const [thread, ...more] = new Set(units.map((unit) => unit.thread))
    if (!isOfUnits && thread !== undefined && more.length === 0) return this.#leaveAlone(thread, entries, error)
    if (isOfUnits) this.#preparation.recovered(items)
    const [only, ...others] = items
    if (only && others.length === 0 && giveUp(this.#parts, only, error)) return this.#suspects.cleared([only])
    this.#parts.log.warn({ err: error, unitCount: units.length }, 'the store failed a batch; it is taken apart')
    this.#suspects.failed(entries)
    putBack(this.#lanes, entries)
  }

  #leaveAlone(thread: ThreadKey, entries: readonly Entry[], error: unknown): void {
    putBack(this.#lanes, entries)
    this.#preparation.leaveAlone(thread, error)
    refuseIntentsIn(this.#lanes, new Map([[thread, error]]))
  }
}
