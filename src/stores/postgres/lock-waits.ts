import type { ThreadKey } from '../../core/id.ts'
import type { Unit } from '../../core/unit.ts'

// A commit holds its rows for milliseconds. Who holds one for this share of the time that a commit may take is no commit.
const shareOfTimeout = 0.5
// Of a thread that was waited for in vain: just long enough to get between two commits of others.
const briefMs = 100
// Some are of threads that nobody writes to again. One that is forgotten is waited for once more.
const contendedMax = 10_000

/**
 * How long a commit waits for the rows of its threads.
 *
 * While it waits nothing else is written here. So a thread that was waited for in vain is not waited for like that again until
 * it has been written to: what stands in its way, a program of somebody else's, may stay for hours.
 */
export class LockWaits {
  readonly #contended = new Set<ThreadKey>()

  msFor(units: readonly Unit[], timeoutMs: number): number {
    const ms = Math.floor(timeoutMs * shareOfTimeout)
    const isBrief = this.#contended.size > 0 && units.some(({ thread }) => this.#contended.has(thread))
    return isBrief ? Math.min(ms, briefMs) : ms
  }

  /** They were waited for in vain. One of them stood in the way, or several. */
  lasted(units: readonly Unit[]): void {
    if (this.#contended.size >= contendedMax) this.#contended.clear()
    for (const { thread } of units) this.#contended.add(thread)
  }

  /** They were written to. */
  ended(units: readonly Unit[]): void {
    if (this.#contended.size > 0) for (const { thread } of units) this.#contended.delete(thread)
  }
}
