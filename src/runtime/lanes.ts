/** Something that waits in a lane. */
export interface Queued {
  /** What it weighs when lanes take turns. */
  bytes: number
}

type Taking = 'taken' | 'blocked' | 'full'

// What one lane may add to a batch. A batch that is one lane's flood is written in about a millisecond.
export const turnBytes = 32 * 1024
// What a lane may add that is alone, so that the fsync is not most of what its batches cost. It comes to that by twice as much
// in each batch that follows another: whoever writes now and then, every few milliseconds, is never made to wait for a large one.
const aloneBytes = 384 * 1024

/**
 * Queues that take turns, one turn per batch. What is in one lane keeps its order; between lanes there is none, so a task
 * that floods its own lane delays nobody else by more than a turn, neither in a batch nor by the batch it fills. Only a lane
 * that has had all batches to itself lately fills them.
 */
export class Lanes<Entry extends Queued> {
  readonly #lanes = new Map<string, Entry[]>()
  #bytes = 0
  /** How many batches in a row were of one lane, and the same one. */
  #aloneCount = 0
  #alone: string | undefined

  /** What waits in all lanes. */
  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#lanes.size === 0
  }

  count(isCounted: (entry: Entry) => boolean): number {
    let count = 0
    for (const entries of this.#lanes.values()) for (const entry of entries) if (isCounted(entry)) count += 1
    return count
  }

  *entries(): Iterable<Entry> {
    for (const entries of this.#lanes.values()) yield* entries
  }

  last(lane: string): Entry | undefined {
    return this.#lanes.get(lane)?.at(-1)
  }

  push(lane: string, entry: Entry): void {
    this.#bytes += entry.bytes
    const entries = this.#lanes.get(lane)
    if (entries) entries.push(entry)
    else this.#lanes.set(lane, [entry])
  }

  /** Makes an entry that waits here heavier. */
  grow(entry: Entry, bytes: number): void {
    entry.bytes += bytes
    this.#bytes += bytes
  }

  /** Takes the last entry out of a lane, if it is one of those wanted. */
  takeLast(lane: string, isWanted: (entry: Entry) => boolean): Entry | undefined {
    const entries = this.#lanes.get(lane)
    const last = entries?.at(-1)
    if (!entries || !last || !isWanted(last)) return undefined
    entries.pop()
    this.#bytes -= last.bytes
    if (entries.length === 0) this.#lanes.delete(lane)
    return last
  }

  /** Takes all entries out that are wanted, whatever lane they are in. */
  takeAll<Wanted extends Entry>(isWanted: (entry: Entry) => entry is Wanted): Wanted[] {
    const taken: Wanted[] = []
    for (const [lane, entries] of this.#lanes) {
      const wanted = entries.filter(isWanted)
      if (wanted.length === 0) continue
      taken.push(...wanted)
      for (const entry of wanted) this.#bytes -= entry.bytes
      const rest = entries.filter((entry) => !isWanted(entry))
      if (rest.length === 0) this.#lanes.delete(lane)
      else this.#lanes.set(lane, rest)
    }
    return taken
  }

  /** Puts entries back at the head of their lane, in the order given. */
  putBack(lane: string, entries: readonly Entry[]): void {
    for (const entry of entries) this.#bytes += entry.bytes
    this.#lanes.set(lane, [...entries, ...(this.#lanes.get(lane) ?? [])])
  }

  /**
   * Offers each lane's turn of entries until `take` has had enough. `take` answers `taken`, `blocked` (this lane waits,
   * others may go on) or `full` (nobody goes on).
   */
  drain(take: (entry: Entry, lane: string) => Taking): void {
    let turnsLeft = this.#lanes.size
    this.#noteAlone()
    // A lane that had its turn goes to the end of the map, so that the next batch begins with those that had none.
    for (const [lane, entries] of this.#lanes) {
      if (turnsLeft === 0 || this.#turn(lane, entries, take) === 'full') return
      turnsLeft -= 1
    }
  }

  #noteAlone(): void {
    const [lane, other] = this.#lanes.keys()
    this.#aloneCount = other === undefined && lane === this.#alone ? this.#aloneCount + 1 : 0
    this.#alone = other === undefined ? lane : undefined
  }

  #turn(lane: string, entries: Entry[], take: (entry: Entry, lane: string) => Taking): Taking {
    const bytesMax = Math.min(aloneBytes, turnBytes * 2 ** this.#aloneCount)
    let bytes = 0
    let count = 0
    let taking: Taking = 'taken'
    for (const entry of entries) {
      if (bytes >= bytesMax) break
      taking = take(entry, lane)
      if (taking !== 'taken') break
      bytes += entry.bytes
      count += 1
    }
    if (count === 0 && taking === 'full') return taking
    this.#lanes.delete(lane)
    this.#bytes -= bytes
    entries.splice(0, count)
    if (entries.length > 0) this.#lanes.set(lane, entries)
    return taking
  }
}
