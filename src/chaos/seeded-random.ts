/** Random numbers that come again with the same seed (mulberry32), so that a failed run can be had once more. */
export class SeededRandom {
  #seed: number

  constructor(seed: number) {
    this.#seed = seed >>> 0
  }

  /** From 0 to below 1. */
  next(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) >>> 0
    let mixed = this.#seed
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  /** True in `share` of all cases. */
  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)]
  }

  /** A choice by weight. */
  weighted<Choice extends string>(weights: Readonly<Record<Choice, number>>): Choice {
    const entries = Object.entries(weights) as [Choice, number][]
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [choice, weight] of entries) {
      left -= weight
      if (left < 0) return choice
    }
    return entries[0]?.[0] as Choice
  }
}
