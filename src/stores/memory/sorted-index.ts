import { invariant } from '../../core/errors.ts'
import type { Journal } from './journal.ts'

export interface IndexRule<Row> {
  /** The group a row belongs to; undefined leaves it out of the index. */
  readonly key: (row: Row) => string | undefined
  /** A total order: two rows of a group never compare as equal. */
  readonly order: (a: Row, b: Row) => number
  /** What a second row of a group breaks, for an index that allows one only. */
  readonly unique?: string
}

/**
 * Rows in groups, each group in order, so that a read touches the rows it gives back and no others.
 *
 * X1 A row is removed before, and added after, a change of anything that its key or order looks at.
 */
export class SortedIndex<Row> {
  readonly #rule: IndexRule<Row>
  readonly #groups = new Map<string, Row[]>()

  constructor(rule: IndexRule<Row>) {
    this.#rule = rule
  }

  group(key: string): readonly Row[] {
    return this.#groups.get(key) ?? []
  }

  groups(): Iterable<readonly [string, readonly Row[]]> {
    return this.#groups
  }

  add(row: Row, journal: Journal): void {
    const key = this.#rule.key(row)
    if (key === undefined) return
    const group = this.group(key)
    if (this.#rule.unique !== undefined && group.length > 0) {
      throw new Error(`${this.#rule.unique}: ${key.split('\u0000').join(' ')}`)
    }
    const at = lowerBound(group, (other) => this.#rule.order(other, row))
    this.#insert(key, at, row)
    journal.note(() => this.#delete(key, at))
  }

  remove(row: Row, journal: Journal): void {
    const key = this.#rule.key(row)
    if (key === undefined) return
    const group = this.group(key)
    const at = lowerBound(group, (other) => this.#rule.order(other, row))
    invariant(group[at] === row, `a row is missing in its index under ${key}`)
    this.#delete(key, at)
    journal.note(() => this.#insert(key, at, row))
  }

  #insert(key: string, at: number, row: Row): void {
    const group = this.#groups.get(key)
    if (group) group.splice(at, 0, row)
    else this.#groups.set(key, [row])
  }

  /** An empty group is dropped, or every parent, name and node ever seen would leave one behind. */
  #delete(key: string, at: number): void {
    const group = this.#groups.get(key)
    if (group?.length === 1) this.#groups.delete(key)
    else group?.splice(at, 1)
  }
}

/** The first position whose row does not come before what is looked for. The end is tried first: most rows are added there. */
export function lowerBound<Row>(rows: readonly Row[], compare: (row: Row) => number): number {
  const last = rows.at(-1)
  if (last === undefined || compare(last) < 0) return rows.length
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row !== undefined && compare(row) < 0) low = middle + 1
    else high = middle
  }
  return low
}
