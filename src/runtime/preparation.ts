import { isHoldfastError } from '../core/errors.ts'
import type { ThreadKey } from '../core/id.ts'
import type { Store } from '../stores/store.ts'
import { BackOff } from './back-off.ts'
import type { BatchSurroundings, Item } from './batch.ts'
import type { Clock, Timer } from './clock.ts'
import { type ChangeEntry, type Entry, isIntent } from './entry.ts'
import type { Logger } from './logger.ts'
import type { Threads } from './threads.ts'

export interface PreparationParts {
  readonly store: Store
  readonly threads: Threads
  readonly around: Pick<BatchSurroundings, 'refillTaskIds'>
  readonly clock: Clock
  readonly log: Logger
}

// Some are of threads that nobody writes to again. What is forgotten is tried again sooner, and that is all.
const backOffsMax = 1_000

/** What could not be had: the live part of a thread, or task ids. */
export interface Lack {
  readonly thread?: ThreadKey
  readonly error: unknown
}

/** What a lack means: the store is not available, or only these threads cannot be read. */
export type Finding = { readonly away: unknown } | { readonly unreadable: ReadonlyMap<ThreadKey, unknown> }

/** Picks what callers ask of these threads. */
export function isIntentIn(threads: ReadonlyMap<ThreadKey, unknown>): (entry: Entry) => entry is ChangeEntry {
  return (entry): entry is ChangeEntry => isIntent(entry) && threads.has(entry.change.thread)
}

/**
 * Gets what batches are decided from.
 *
 * A1 A thread that cannot be read or written to while the store takes commits is its own affair: it rests for a while, longer each
 *    time, and what is asked of other threads goes on.
 */
export class Preparation {
  readonly #parts: PreparationParts
  readonly #backOffs = new Map<ThreadKey, BackOff>()
  readonly #resting = new Map<ThreadKey, Timer>()
  readonly #locked = new Set<ThreadKey>()
  #isStuck = false
  #wake: () => void = () => {}

  constructor(parts: PreparationParts) {
    this.#parts = parts
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
    const wanted = [...threads].filter((thread) => !this.#resting.has(thread))
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
  async judge(lacks: readonly Lack[], onLate: () => void): Promise<Finding> {
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

  /** It rests because another program holds it. What cannot be read can still be appended to. */
  isLocked(thread: ThreadKey): boolean {
    return this.#locked.has(thread)
  }

  /** They were written to, so nothing is wrong with them. */
  recovered(items: readonly Item[]): void {
    if (this.#backOffs.size === 0) return
    // What a task emits is written also to a thread that cannot be read.
    for (const { entry } of items) if (entry.kind === 'change') this.#backOffs.delete(entry.change.thread)
  }

  /** All that is asked for is to be decided in threads that rest. */
  get isStuck(): boolean {
    return this.#isStuck
  }

  /** If all of these rest, resolves when one of them may be tried again, or something else is asked for; else at once. */
  async rest(threads: ReadonlySet<ThreadKey>, onStuck: () => void): Promise<void> {
    if (threads.size === 0 || [...threads].some((thread) => !this.#resting.has(thread))) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#isStuck = true
    onStuck()
    await promise
    this.#isStuck = false
  }

  wake(): void {
    this.#wake()
  }

  close(): void {
    for (const timer of this.#resting.values()) timer.cancel()
    this.#resting.clear()
    this.#locked.clear()
    this.#wake()
  }

  /** A1. */
  leaveAlone(thread: ThreadKey, error: unknown): void {
    if (this.#backOffs.size >= backOffsMax) this.#backOffs.clear()
    const backOff = this.#backOffs.get(thread) ?? new BackOff()
    this.#backOffs.set(thread, backOff)
    const afterMs = backOff.nextMs()
    this.#parts.log.error(
      { err: error, thread },
      `a thread cannot be read or written to; it is tried again in ${afterMs} ms`,
    )
    if (isHoldfastError(error, 'thread_locked')) this.#locked.add(thread)
    const over = () => {
      this.#resting.delete(thread)
      this.#locked.delete(thread)
      this.#wake()
    }
    this.#resting.set(thread, this.#parts.clock.setTimer(afterMs, over))
  }
}
