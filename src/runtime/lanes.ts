/** Something that waits in a lane. */
export interface Queued {
  /** What it weighs when lanes take turns. */
  bytes: number
}

type Taking = 'taken' | 'blocked' | 'full'

// What one lane may add to a batch before the others have had their turn.
const turnBytes = 32 * 1024

/**
 * Queues that take turns. What is in one lane keeps its order; between lanes there is none, so a task that floods its own
 * lane delays nobody else by more than a turn.
 */
export class Lanes<Entry extends Queued> {
  readonly #lanes = new Map<string, Entry[]>()

  get isEmpty(): boolean {
    return this.#lanes.size === 0
  }

  last(lane: string): Entry | undefined {
    return this.#lanes.get(lane)?.at(-1)
  }

  push(lane: string, entry: Entry): void {
    const entries = this.#lanes.get(lane)
    if (entries) entries.push(entry)
    else this.#lanes.set(lane, [entry])
  }

  /** Takes the last entry out of a lane, if it is one of those wanted. */
  takeLast(lane: string, isWanted: (entry: Entry) => boolean): Entry | undefined {
    const entries = this.#lanes.get(lane)
    const last = entries?.at(-1)
    if (!entries || !last || !isWanted(last)) return undefined
    entries.pop()
    if (entries.length === 0) this.#lanes.delete(lane)
    return last
  }

  /** Puts entries back at the head of their lane, in the order given. */
  putBack(lane: string, entries: readonly Entry[]): void {
    this.#lanes.set(lane, [...entries, ...(this.#lanes.get(lane) ?? [])])
  }

  /**
   * Offers entries in turns until `take` has had enough. `take` answers `taken`, `blocked` (this lane waits, others may
   * go on) or `full` (nobody goes on).
   */
  drain(take: (entry: Entry, lane: string) => Taking): void {
    const blocked = new Set<string>()
    // A lane that had its turn goes to the end of the map, where this loop meets it again.
    for (const [lane, entries] of this.#lanes) {
      if (blocked.has(lane)) continue
      const taking = this.#turn(lane, entries, take)
      if (taking === 'full') return
      if (taking === 'blocked') blocked.add(lane)
    }
  }

  #turn(lane: string, entries: Entry[], take: (entry: Entry, lane: string) => Taking): Taking {
    let bytes = 0
    let count = 0
    let taking: Taking = 'taken'
    for (const entry of entries) {
      if (bytes >= turnBytes) break
      taking = take(entry, lane)
      if (taking !== 'taken') break
      bytes += entry.bytes
      count += 1
    }
    if (count === 0 && taking === 'full') return taking
    this.#lanes.delete(lane)
    entries.splice(0, count)
    if (entries.length > 0) this.#lanes.set(lane, entries)
    return taking
  }
}
