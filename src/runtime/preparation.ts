import { isHoldfastError } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import type { Store } from '../stores/store.ts'
import type { BatchSurroundings, Item } from './batch.ts'
import { type Clock, nextTurn } from './clock.ts'
import { type Entry, keyOf } from './entry.ts'
import type { Logger } from './logger.ts'
import { Rests } from './rests.ts'
import type { Threads } from './threads.ts'

export interface PreparationParts {
  readonly store: Store
  readonly threads: Threads
  readonly around: Pick<BatchSurroundings, 'refillTaskIds'>
  readonly clock: Clock
  readonly log: Logger
}

// To try a locked thread takes its time, in which nobody else is written for: the more there are, the longer they rest.
const lockedRestMsMax = 10_000

/** What could not be had: the live part of a thread, or task ids. */
export interface Lack {
  readonly thread?: ThreadKey
  readonly error: unknown
}

/** What a lack means: the store is not available, or only these threads cannot be read. */
export type Finding = { readonly away: unknown } | { readonly unreadable: ReadonlyMap<ThreadKey, unknown> }

/**
 * Gets what batches are decided from.
 *
 * A1 A thread that cannot be read or written to while the store takes commits is its own affair: it rests for a while, longer each
 *    time, and what is asked of other threads goes on.
 */
export class Preparation {
  readonly #parts: PreparationParts
  readonly #rests: Rests<ThreadKey>
  /** Those that another program was found to hold and that were not written to since, the one tried longest ago first. */
  readonly #locked = new Set<ThreadKey>()
  #isStuck = false
  #wake: () => void = () => {}

  constructor(parts: PreparationParts) {
    this.#parts = parts
    const { clock } = parts
    this.#rests = new Rests({
      clock,
      onOver: () => this.#wake(),
      onForgotten: (thread) => this.#locked.delete(thread),
    })
  }

  /** The threads that must be read before these can be decided. */
  missing(entries: Iterable<Entry>): Set<ThreadKey> {
    const missing = new Set<ThreadKey>()
    for (const entry of entries) {
      if (entry.kind === 'change' && !this.#parts.threads.has(entry.change.thread)) missing.add(entry.change.thread)
    }
    return missing
  }

  /** Fetches ids and reads threads, but for those that rest. */
  async get(idsWanted: number, threads: ReadonlySet<ThreadKey>): Promise<Lack[]> {
    const lacks: Lack[] = []
    if (idsWanted > 0)
      await this.#parts.around.refillTaskIds(idsWanted).catch((error: unknown) => lacks.push({ error }))
    const wanted = [...threads].filter((thread) => !this.#rests.has(thread))
    const read = async (thread: ThreadKey) => {
      try {
        await this.#parts.threads.load(thread)
      } catch (error) {
        lacks.push({ thread, error })
      }
    }
    await Promise.all(wanted.map(read))
    return lacks
  }

  /** A1. To be called while no batch is on its way. */
  async judge(lacks: readonly Lack[], onLate: (why?: unknown) => void): Promise<Finding> {
    const unreadable = new Map<ThreadKey, unknown>()
    for (const { thread, error } of lacks) {
      if (thread === undefined) return { away: error }
      unreadable.set(thread, error)
    }
    try {
      await this.#parts.store.commit([], onLate)
    } catch (error) {
      return { away: error }
    }
    for (const [thread, error] of unreadable) this.leaveAlone(thread, error)
    return { unreadable }
  }

  /** Threads in which nothing can be decided for a while. */
  get resting(): readonly ThreadKey[] {
    return this.#rests.keys
  }

  get locked(): ReadonlySet<ThreadKey> {
    return this.#locked
  }

  /** It rests because another program holds it. What cannot be read can still be appended to. */
  isLeftAlone(thread: ThreadKey): boolean {
    return this.#locked.has(thread) && this.#rests.has(thread)
  }

  /** The store has judged what was decided in them, so nothing is wrong with them. */
  recovered(items: readonly Item[]): void {
    if (this.#rests.isEmpty) return
    for (const { entry, unit } of items) {
      const thread = keyOf(entry)
      // What a task emits is written also to a thread that cannot be read, and what comes to no unit asks nobody for a lock.
      if (this.#locked.has(thread) ? unit : entry.kind === 'change') this.#rests.forget(thread)
    }
  }

  /** All that is asked for is to be decided in threads that rest. */
  get isStuck(): boolean {
    return this.#isStuck
  }

  /**
   * Nothing but these could be taken. If all of them rest, resolves when one of them may be tried again, or something else is asked
   * for; at once if a locked thread is to be tried now, which says no more of the rest.
   */
  async rest(threads: ReadonlySet<ThreadKey>, isDue: boolean, onStuck: () => void): Promise<void> {
    if (threads.size === 0 && !isDue) return
    if ([...threads].some((thread) => !this.#rests.has(thread))) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#isStuck = true
    onStuck()
    await (isDue ? nextTurn() : promise)
    this.#isStuck = false
  }

  wake(): void {
    this.#wake()
  }

  close(): void {
    this.#rests.close()
    this.#locked.clear()
    this.#wake()
  }

  /** A1. */
  leaveAlone(thread: ThreadKey, error: unknown): void {
    const isLocked = isHoldfastError(error, 'thread_locked')
    const isOther = (other: ThreadKey) => other !== thread && this.#rests.has(other)
    const otherCount = isLocked ? [...this.#locked].filter(isOther).length : 0
    const afterMs = this.#rests.begin(thread, (restMs) => Math.min(lockedRestMsMax, restMs * (1 + otherCount)))
    // A commit may be answered after the close.
    if (afterMs === undefined) return
    this.#locked.delete(thread)
    if (isLocked) this.#locked.add(thread)
    this.#parts.log.error(
      { err: error, thread },
      `a thread cannot be read or written to; it is tried again in ${afterMs} ms`,
    )
  }
}
