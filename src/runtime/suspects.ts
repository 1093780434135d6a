import type { ThreadKey } from '../core/id.ts'
import type { BatchFilter, Item } from './batch.ts'
import { type Entry, keyOf } from './entry.ts'
import type { Lanes } from './lanes.ts'
import type { Preparation } from './preparation.ts'

// To fail takes a lock's wait, to succeed a few milliseconds: with more parts less fails until what is at fault stands alone.
const partsMax = 8
// While there are more than these others have few turns: what fails as fast as it is tried would never come to an end.
const groupsMax = 64
// Their turn comes then after so many batches, in which the one at fault is found in a batch of any size.
const turnsMax = 32

/**
 * What was in a batch that the store failed, until it is committed or stands alone, and what is written to threads that another
 * program holds.
 *
 * U1 What failed together is tried in parts, each a group that is tried by itself, until the one at fault stands alone. Whoever
 *    comes meanwhile has batches in turn with the groups, seldom if there are many of them, and never makes a search longer.
 * U2 What is written to the thread of a suspect waits for it: a lane keeps its order, and it may well be the thread that is at fault.
 * U3 A thread that was found to be locked is tried by itself when it has rested and no group is left to be tried, so it keeps
 *    nobody in company with it, and one that is searched for is found before the others are tried again.
 */
export class Suspects {
  readonly #known: Pick<Preparation, 'locked' | 'isLeftAlone'>
  #groups: Set<Entry>[] = []
  /** The group whose turn it is, and whether anything has come of it. */
  #tried: Set<Entry> | undefined
  #isFruitless = false
  /** The group that was tried in vain the last time. */
  #triedInVain: Set<Entry> | undefined
  /** How many batches others have not had a turn for. */
  #turnCount = 0
  #lockedBytes = 0

  constructor(known: Pick<Preparation, 'locked' | 'isLeftAlone'>) {
    this.#known = known
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0
  }

  /** What waits for locked threads, as of the last batch. */
  get lockedBytes(): number {
    return this.#lockedBytes
  }

  /** Whether there is something to be tried now, given all that waits. */
  isDue(lanes: Pick<Lanes<Entry>, 'entries'>): boolean {
    return !this.isEmpty || this.#lockedDue(lanes) !== undefined
  }

  /** What the next batch is of, given all that waits. */
  next(lanes: Pick<Lanes<Entry>, 'entries'>): BatchFilter {
    const { locked } = this.#known
    this.#keepOnly(lanes)
    const isTurnOfOthers = this.#turnCount >= (this.#groups.length > groupsMax ? turnsMax : 1)
    const group = isTurnOfOthers ? undefined : this.#groups[0]
    const thread = isTurnOfOthers || group ? undefined : this.#lockedDue(lanes)
    this.#tried = group
    this.#isFruitless = group !== undefined
    this.#turnCount = group || thread !== undefined ? this.#turnCount + 1 : 0
    if (group) return this.#filter((entry) => group.has(entry))
    if (thread !== undefined) return this.#filter((entry) => keyOf(entry) === thread)
    const threads = new Set(this.#groups.flatMap((suspects) => Array.from(suspects, keyOf)))
    return this.#filter((entry) => !threads.has(keyOf(entry)) && !locked.has(keyOf(entry)))
  }

  /** These failed together, or alone and are to be tried again. */
  failed(entries: readonly Entry[]): void {
    this.#isFruitless = false
    this.#remove(entries)
    const size = Math.ceil(entries.length / partsMax)
    const groups = Array.from({ length: Math.ceil(entries.length / size) }, (_, n) => {
      return new Set(entries.slice(n * size, (n + 1) * size))
    })
    // A search that has begun goes on before the next one, and what stands alone comes before what is behind it in its lane.
    const isFirst = this.#tried !== undefined || entries.length === 1
    this.#groups = isFirst ? [...groups, ...this.#groups] : [...this.#groups, ...groups]
  }

  /** The store was away: nothing is known of what was tried. */
  passed(): void {
    this.#isFruitless = false
  }

  /** These were committed, or are given up. Of them, `again` are to be decided once more, before what waits behind them. */
  cleared(items: readonly Item[], again: readonly Entry[] = []): void {
    if (this.isEmpty || items.length === 0) return
    this.#isFruitless = false
    this.#remove(items.map(({ entry }) => entry))
    if (this.#tried && again.length > 0) this.#groups.unshift(new Set(again))
  }

  #filter(allows: BatchFilter['allows']): BatchFilter {
    return { allows, isLocked: (thread) => this.#known.isLeftAlone(thread) }
  }

  /** The thread to be tried that has waited the longest. */
  #lockedDue(lanes: Pick<Lanes<Entry>, 'entries'>): ThreadKey | undefined {
    const { locked } = this.#known
    if (locked.size === 0) return undefined
    const waiting = new Set(Array.from(lanes.entries(), keyOf))
    return [...locked].find((thread) => waiting.has(thread) && !this.#known.isLeftAlone(thread))
  }

  #remove(entries: readonly Entry[]): void {
    for (const group of this.#groups) for (const entry of entries) group.delete(entry)
    this.#groups = this.#groups.filter((group) => group.size > 0)
  }

  #keepOnly(lanes: Pick<Lanes<Entry>, 'entries'>): void {
    const { locked } = this.#known
    this.#lockedBytes = 0
    if (this.isEmpty && locked.size === 0) return
    const waiting = new Set(lanes.entries())
    for (const entry of waiting) if (locked.has(keyOf(entry))) this.#lockedBytes += entry.bytes
    // One may have gone otherwise: refused while the store was down, or along with the step that its task recorded next. Those of
    // a thread that was found are tried with it (U3).
    const isSuspect = (entry: Entry) => waiting.has(entry) && !locked.has(keyOf(entry))
    this.#remove(this.#groups.flatMap((group) => [...group].filter((entry) => !isSuspect(entry))))
    this.#dropFruitless()
  }

  /**
   * None of it could be taken, though nothing kept it: the second time it goes with the others again, so that it keeps no search
   * from going on. The first time its thread may have had to be read for it once more, and with the others it would only fail them.
   */
  #dropFruitless(): void {
    if (!this.#tried) return
    const group = this.#isFruitless ? this.#tried : undefined
    if (group && group === this.#triedInVain) this.#groups = this.#groups.filter((each) => each !== group)
    this.#triedInVain = group
  }
}
