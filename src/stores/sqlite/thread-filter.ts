import type { ThreadKey } from '../../core/id.ts'

// With these a thread in a thousand that is not there looks as if it were.
const bitsPerThread = 16
const probeCount = 6
// 1 MB, a hundredth of what an idle server takes.
const threadsMin = 500_000

/**
 * Tells of nearly every thread that is not in the file that it is not, without a look: a Bloom filter over those that are.
 *
 * F1 It never tells so of a thread that was added, and of none at all before `isWhole` is set, when all were added.
 * F2 It is made for so many threads, two bytes for each. With more it tells less, and nothing wrong.
 */
export class ThreadFilter {
  isWhole = false
  readonly #bits: Uint32Array

  constructor(threadCount: number) {
    this.#bits = new Uint32Array((Math.max(threadCount, threadsMin) * bitsPerThread) / 32)
  }

  add(key: ThreadKey): void {
    this.#probe(key, true)
  }

  mayHave(key: ThreadKey): boolean {
    return !this.isWhole || this.#probe(key, false)
  }

  /** Whether all bits of the key are set; those that are not are set if it is so wanted. */
  #probe(key: ThreadKey, isToSet: boolean): boolean {
    // Places that are as good as unrelated come from two hashes that are (Kirsch and Mitzenmacher).
    let [place, step] = hashes(key)
    for (let n = 0; n < probeCount; n++) {
      const bit = (place >>> 0) % (this.#bits.length * 32)
      const [at, mask] = [bit >>> 5, 1 << (bit & 31)]
      const bits = this.#bits[at] ?? 0
      if (isToSet) this.#bits[at] = bits | mask
      else if ((bits & mask) === 0) return false
      place += step
    }
    return true
  }
}

/** FNV-1a, and the same with the multiplier of MurmurHash2. Each is finished so that every bit depends on every other. */
function hashes(text: string): [one: number, other: number] {
  let one = 0x811c9dc5
  let other = 0x9747b28c
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    one = Math.imul(one ^ unit, 0x01000193)
    other = Math.imul(other ^ unit, 0x5bd1e995)
  }
  return [spread(one), spread(other) | 1]
}

/** The end of MurmurHash3. */
function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
