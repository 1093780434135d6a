import { type Place, type PlaceRule, SmallAndQuick } from '../../../src/stores/sqlite/commit-place.ts'
import { LineBytes } from '../../../src/stores/sqlite/line-bytes.ts'
import { type PackedBatch, packBatch } from '../../../src/stores/sqlite/packed-batch.ts'
import { unit } from '../../../src/testing/store-suite/builders.ts'

/** Every change from one place to the other, and twice the same. */
const turns: readonly Place[] = ['here', 'thread', 'here', 'here', 'thread', 'thread']

/** Commits here and on the writer's thread by turns, as far as a batch may be here on a disk that is quick. */
export class ByTurns implements PlaceRule {
  /** Where the batches were committed, in order. */
  readonly places: Place[] = []
  readonly #turns: readonly Place[]
  readonly #rule: SmallAndQuick
  #count = 0

  constructor(of: readonly Place[] = turns) {
    this.#turns = of
    let now = 0
    this.#rule = new SmallAndQuick(() => (now += 1_000))
    this.#rule.took('thread', packBatch([unit()], new LineBytes()), 0)
  }

  choose(batch: PackedBatch): Place {
    const mayBeHere = this.#rule.choose(batch) === 'here'
    const turn = this.#turns[this.#count++ % this.#turns.length]
    return mayBeHere && turn === 'here' ? 'here' : 'thread'
  }

  took(place: Place, batch: PackedBatch): void {
    this.places.push(place)
    this.#rule.took(place, batch, 0)
  }
}
