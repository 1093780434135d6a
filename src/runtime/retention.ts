import { HoldfastError, invariant, isBrokenInvariant } from '../core/errors.ts'
import { type Principal, principalOf, type ThreadKey, threadKey, threadOf } from '../core/id.ts'
import { checkedRetention, type Retention } from '../core/retention.ts'
import type { Store, ThreadSummary } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import type { Hooks } from './hooks.ts'
import type { Logger } from './logger.ts'
import { cursorOf, type PrunePlace, placeOf } from './prune-place.ts'
import { type PrunedCounts, type PruneRest, Pruning } from './pruning.ts'
import type { Writer } from './writer.ts'

/** What to remove, by age or by count. */
export interface PruneOptions extends Retention {
  /** Only counts what would go; where a store keeps several events in a row, fewer may. */
  readonly dryRun?: boolean
  /** Where the last call ended. */
  readonly cursor?: string
}

/** What was removed, or would be. */
export interface Pruned extends Omit<PrunedCounts, 'skipped'> {
  /** Threads that were left, if there were any: another program holds them, they cannot be read, or it took the store too long. */
  readonly skipped?: number
  /** There is more to look at: ask again with it. */
  readonly cursor?: string
}

export interface RetentionKeeperParts {
  readonly store: Store
  readonly writer: Writer
  /** What the node applies by itself, if anything. */
  readonly policy: Retention | undefined
  readonly hooks: Pick<Hooks, 'isUsed'>
  readonly log: Logger
  checkOpen(): void
}

const pageThreads = 50
// As many as one call looks at, if it has no more to do with them.
const visitedMax = 2_000
// What is left when a policy has had so many goes is seen to in its next round, from where it was.
const goesMax = 10

/** Removes what need not be kept: when it is asked to, and by the node's policy. */
export class RetentionKeeper {
  readonly #parts: RetentionKeeperParts
  #isClosed = false
  #round: Promise<void> | undefined
  #place: PrunePlace = {}

  constructor(parts: RetentionKeeperParts) {
    this.#parts = parts
  }

  get hasPolicy(): boolean {
    return this.#parts.policy !== undefined
  }

  /** Prunes threads of a principal, as many as take a moment. */
  async prune(principal: Principal, options: PruneOptions): Promise<Pruned> {
    this.#parts.checkOpen()
    const { dryRun = false, cursor } = options
    const retention = checkedRetention(options)
    if (Object.keys(retention).length === 0) throw nothingNamed()
    try {
      const from = cursor === undefined ? {} : placeOf(principal, cursor)
      const pruning = new Pruning(this.#pruningParts, retention, dryRun)
      const next = await this.#go(pruning, principal, from)
      const { skipped, ...removed } = pruning.counts
      return { ...removed, ...(skipped > 0 && { skipped }), ...(next && { cursor: cursorOf(next) }) }
    } finally {
      // Stopped half way, or by a store that was closed beneath it: whoever asked is to ask again.
      if (this.#isClosed) this.#parts.checkOpen()
    }
  }

  /** A round of the policy over the threads of all principals, or a part of one; the next goes on from there. */
  apply(): Promise<void> {
    this.#round = this.#apply()
    return this.#round
  }

  /** Resolves when the round that is under way has stopped. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([this.#round])
  }

  async #apply(): Promise<void> {
    const { policy } = this.#parts
    if (!policy) return
    for (let goes = 0; goes < goesMax && !this.#isClosed; goes += 1) {
      const next = await this.#go(new Pruning(this.#pruningParts, policy, false), undefined, this.#place)
      this.#place = next ?? {}
      if (!next) return
    }
  }

  /** Says where there is more to look at. */
  async #go(pruning: Pruning, principal: Principal | undefined, from: PrunePlace): Promise<PrunePlace | undefined> {
    for (let place = from, visited = 0; ; ) {
      const { page } = place
      const query = { ...(principal !== undefined && { principal }), ...(page !== undefined && { cursor: page }) }
      const { threads, cursor } = await this.#parts.store.threads({ ...query, limit: pageThreads })
      const next = await this.#goThrough(pruning, threads.map(owned(principal)), place)
      if (next) return next
      if (cursor === undefined) return undefined
      visited += threads.length
      place = { page: cursor }
      if (visited >= visitedMax) return place
    }
  }

  /** All of a page, or from that thread on that is not done. */
  async #goThrough(pruning: Pruning, threads: readonly OwnedThread[], place: PrunePlace) {
    const { page, key, upTo } = place
    const begun = threads.findIndex((thread) => thread.key === key)
    if (begun === -1 && key !== undefined && upTo !== undefined) {
      const rest = await this.#unlessStuck(pruning, key, () => pruning.goOn(key, upTo))
      if (rest) return place
    }
    for (const thread of threads.slice(Math.max(0, begun))) {
      const here: PrunePlace = { ...(page !== undefined && { page }), key: thread.key }
      if (pruning.isSpent || this.#isClosed) return here
      const upToMax = thread.key === key ? upTo : undefined
      const prune = () => pruning.prune(thread.principal, thread, upToMax)
      const rest = await this.#unlessStuck(pruning, thread.key, prune)
      if (rest) return { ...here, ...rest }
      // A thread per turn: a store may answer within one, and everybody else would wait for all of them.
      await nextTurn()
    }
    return undefined
  }

  /** A thread that another program holds, or that cannot be read, keeps no other from being pruned: it is seen to another time. */
  async #unlessStuck(pruning: Pruning, key: ThreadKey, prune: () => Promise<PruneRest | undefined>) {
    try {
      return await prune()
    } catch (error) {
      const { writer, log } = this.#parts
      // Else it is the store that is in trouble, or the node that closes, or ourselves.
      if (this.#isClosed || isBrokenInvariant(error) || !(await writer.isStoreThere())) throw error
      log.warn({ err: error, principal: principalOf(key), thread: threadOf(key) }, 'a thread could not be pruned')
      pruning.skip()
      return undefined
    }
  }

  get #pruningParts() {
    const { store, writer, hooks } = this.#parts
    return { store, writer, hasHook: hooks.isUsed, isStopped: () => this.#isClosed }
  }
}

interface OwnedThread extends ThreadSummary {
  readonly principal: Principal
  readonly key: ThreadKey
}

/** A store says whose a thread is where it lists those of all. */
function owned(asked: Principal | undefined): (thread: ThreadSummary) => OwnedThread {
  return (thread) => {
    const principal = thread.principal ?? asked
    invariant(principal !== undefined, `a list of all threads says whose ${thread.thread} is`)
    return { ...thread, principal, key: threadKey(principal, thread.thread) }
  }
}

function nothingNamed(): HoldfastError {
  return new HoldfastError('invalid_request', 'Say what to prune: eventsMs, eventsPerThread or threadsMs')
}
