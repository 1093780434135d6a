import type { Admission, Item } from './batch.ts'
import { type Entry, threadOf } from './entry.ts'

// While more than these are to be tried nobody else has a turn: what fails as fast as it is tried would never come to an end.
const groupsMax = 16

/**
 * What was in a batch that the store failed, until it is committed or stands alone.
 *
 * U1 What failed together is tried in two halves, each a group that is tried by itself, until the one at fault stands alone. Whoever
 *    comes meanwhile has batches in turn with the groups, unless there are many of them, and never makes a search longer.
 * U2 What is written to the thread of a suspect waits for it: a lane keeps its order, and it may well be the thread that is at fault.
 */
export class Suspects {
  readonly #isLocked: Admission['isLocked']
  #groups: Set<Entry>[] = []
  /** The group whose turn it is, and whether anything has come of it. */
  #tried: Set<Entry> | undefined
  #isFruitless = false

  constructor(isLocked: Admission['isLocked']) {
    this.#isLocked = isLocked
  }

  get isEmpty(): boolean {
    return this.#groups.length === 0
  }

  /** Whether there is one to be tried now. */
  get isDue(): boolean {
    return this.#due() !== undefined
  }

  /** What the next batch is of, given all that waits. */
  next(waiting: Iterable<Entry>): Admission {
    const isLocked = this.#isLocked
    if (!this.isEmpty) this.#keepOnly(new Set(waiting))
    if (this.isEmpty) {
      this.#tried = undefined
      return { isLocked, admits: () => true }
    }
    // None of it could be taken, though nothing kept it: it goes with the others again.
    if (this.#tried && this.#isFruitless) this.#groups = this.#groups.filter((group) => group !== this.#tried)
    const wasTurn = this.#tried !== undefined && this.#groups.length <= groupsMax
    const group = wasTurn ? undefined : this.#due()
    this.#tried = group
    this.#isFruitless = group !== undefined
    if (group) return { isLocked, admits: (entry) => group.has(entry) }
    const threads = new Set(this.#groups.flatMap((suspects) => Array.from(suspects, threadOf)))
    return { isLocked, admits: (entry) => !threads.has(threadOf(entry)) }
  }

  /** These failed together, or alone and are to be tried again. */
  failed(entries: readonly Entry[]): void {
    this.#isFruitless = false
    this.#remove(entries)
    const middle = Math.ceil(entries.length / 2)
    const halves = [entries.slice(0, middle), entries.slice(middle)].filter((half) => half.length > 0)
    const groups = halves.map((half) => new Set(half))
    // A search that has begun goes on before the next one, and what stands alone comes before what is behind it in its lane.
    const isFirst = this.#tried !== undefined || entries.length === 1
    this.#groups = isFirst ? [...groups, ...this.#groups] : [...this.#groups, ...groups]
  }

  /** These were committed, or are given up. Of them, `again` are to be decided once more, before what waits behind them. */
  cleared(items: readonly Item[], again: readonly Entry[] = []): void {
    if (this.isEmpty || items.length === 0) return
    this.#isFruitless = false
    this.#remove(items.map(({ entry }) => entry))
    if (this.#tried && again.length > 0) this.#groups.unshift(new Set(again))
  }

  #due(): Set<Entry> | undefined {
    return this.#groups.find((group) => [...group].some((entry) => !this.#isLocked(threadOf(entry))))
  }

  #remove(entries: readonly Entry[]): void {
    for (const group of this.#groups) for (const entry of entries) group.delete(entry)
    this.#groups = this.#groups.filter((group) => group.size > 0)
  }

  /** One may have gone otherwise: refused while the store was down, or along with the step that its task recorded next. */
  #keepOnly(waiting: ReadonlySet<Entry>): void {
    this.#remove(this.#groups.flatMap((group) => [...group].filter((entry) => !waiting.has(entry))))
  }
}
