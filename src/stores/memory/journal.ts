/**
 * How a batch that fails leaves nothing behind: every change of the tables says how it is undone.
 *
 * J1 Undone newest first, each inverse meets the tables exactly as its change left them, so an inverse may
 *    rely on positions.
 */
export class Journal {
  readonly #inverses: (() => void)[] = []

  note(inverse: () => void): void {
    this.#inverses.push(inverse)
  }

  rollback(): void {
    for (let inverse = this.#inverses.pop(); inverse; inverse = this.#inverses.pop()) inverse()
  }

  /** Sets fields of a row that changes in place. */
  assign<Row extends object>(row: Row, fields: Partial<Row>): void {
    const before = { ...row }
    this.note(() => Object.assign(row, before))
    Object.assign(row, fields)
  }

  set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key)
    this.note(() => (before === undefined ? map.delete(key) : map.set(key, before)))
    map.set(key, value)
  }

  delete<Key, Value>(map: Map<Key, Value>, key: Key): void {
    const before = map.get(key)
    if (before === undefined) return
    this.note(() => map.set(key, before))
    map.delete(key)
  }

  append<Item>(list: Item[], items: readonly Item[]): void {
    const length = list.length
    this.note(() => {
      list.length = length
    })
    for (const item of items) list.push(item)
  }
}
