import { type Committer, type CommitterRule, CostRule } from '../../../src/stores/sqlite/committer-rule.ts'
import { LineBytes } from '../../../src/stores/sqlite/line-bytes.ts'
import { type PackedBatch, packBatch } from '../../../src/stores/sqlite/packed-batch.ts'
import { unit } from '../../../src/testing/store-suite/builders.ts'

/** Every change from one to the other, and each twice in a row. */
const eachAfterEach: readonly Committer[] = ['quick', 'writer', 'quick', 'quick', 'writer', 'writer']

/** Has the two writers commit by turns, as far as the quick one may on a disk that never holds it up. */
export class TurnsRule implements CommitterRule {
  /** Who committed what changed the file, in order. */
  readonly committers: Committer[] = []
  /** Who was to commit, in order. */
  readonly chosen: Committer[] = []
  /** Whose turn it is with the next batches, over and over. */
  turns: readonly Committer[]
  readonly #rule: CostRule

  constructor(turns: readonly Committer[] = eachAfterEach) {
    this.turns = turns
    let now = 0
    this.#rule = new CostRule(() => (now += 1_000))
    this.#rule.committed('writer', packBatch([unit()], new LineBytes()), 0)
  }

  choose(batch: PackedBatch): Committer {
    const turn = this.turns[this.chosen.length % this.turns.length]
    const choice = turn === 'quick' ? this.#rule.choose(batch) : 'writer'
    this.chosen.push(choice)
    return choice
  }

  committed(by: Committer, batch: PackedBatch): void {
    this.committers.push(by)
    this.#rule.committed(by, batch, 0)
  }

  get isLogDue(): boolean {
    return this.#rule.isLogDue
  }

  logMoved(): void {
    this.#rule.logMoved()
  }

  heldUp(): void {}
}
