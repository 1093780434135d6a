import { HoldfastError } from '../core/errors.ts'
import type { Principal } from '../core/id.ts'
import { checkedRetention, type Retention } from '../core/retention.ts'
import type { Store } from '../stores/store.ts'
import { nextTurn } from './clock.ts'
import type { Hooks } from './hooks.ts'
import { addCounts, nothingPruned, type PrunedCounts, Pruning } from './pruning.ts'
import type { Writer } from './writer.ts'

/** What to remove, by age or by count. */
export interface PruneOptions extends Retention {
  /** Only counts what would go; where a store keeps several events in a row, fewer may. */
  readonly dryRun?: boolean
  /** Where the last call ended. */
  readonly cursor?: string
}

/** What was removed, or would be. */
export interface Pruned extends PrunedCounts {
  /** There are more threads to look at: ask again with it. */
  readonly cursor?: string
}

export interface RetentionKeeperParts {
  readonly store: Store
  readonly writer: Writer
  /** What the node applies by itself, if anything. */
  readonly policy: Retention | undefined
  readonly hooks: Pick<Hooks, 'isUsed'>
  checkOpen(): void
}

const pageThreads = 50
// What one call does, about a second's work, so that nobody waits for an answer for long.
const visitedMax = 2_000
const commitsMax = 500
// What is left when a policy has had so many goes is seen to in its next round, from where it was.
const goesMax = 10

/** Removes what need not be kept: when it is asked to, and by the node's policy. */
export class RetentionKeeper {
  readonly #parts: RetentionKeeperParts
  #isClosed = false
  #round: Promise<void> | undefined
  #cursor: string | undefined

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
      return await this.#go(new Pruning(this.#pruningParts, retention, dryRun), principal, cursor)
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
      const { cursor } = await this.#go(new Pruning(this.#pruningParts, policy, false), undefined, this.#cursor)
      this.#cursor = cursor
      if (cursor === undefined) return
    }
  }

  async #go(pruning: Pruning, principal: Principal | undefined, from: string | undefined): Promise<Pruned> {
    let counts = nothingPruned
    for (let cursor = from, visited = 0; ; ) {
      const whose = principal === undefined ? {} : { principal }
      const page = await this.#parts.store.threads({ ...whose, ...cursorOf(cursor), limit: pageThreads })
      for (const thread of page.threads) {
        const owner = thread.principal ?? principal
        if (owner === undefined || this.#isClosed) return { ...counts, ...cursorOf(cursor) }
        counts = addCounts(counts, await pruning.prune(owner, thread))
        // A thread per turn: a store may answer within one, and everybody else would wait for all of them.
        await nextTurn()
      }
      visited += page.threads.length
      cursor = page.cursor
      const isEnough = visited >= visitedMax || pruning.commitCount >= commitsMax
      if (cursor === undefined || isEnough) return { ...counts, ...cursorOf(cursor) }
    }
  }

  get #pruningParts() {
    const { store, writer, hooks } = this.#parts
    return { store, writer, hasHook: hooks.isUsed, isStopped: () => this.#isClosed }
  }
}

function cursorOf(cursor: string | undefined): { readonly cursor?: string } {
  return cursor === undefined ? {} : { cursor }
}

function nothingNamed(): HoldfastError {
  return new HoldfastError('invalid_request', 'Say what to prune: eventsMs, eventsPerThread or threadsMs')
}
