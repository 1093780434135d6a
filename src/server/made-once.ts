import type { LogEntry, Made } from '../runtime/log-entry.ts'

type Batch = readonly LogEntry[]

/**
 * Makes something of a batch once for all who are given it. Cursors at the same place of a thread are given the same array;
 * those with a filter are each given an array of their own, and share what was made if it holds the same events.
 *
 * It is kept with the first event of the batch. In a WeakMap it would live through many collections of what is young,
 * which was a third of what a replay took.
 */
export function madeOnce<Value>(make: (batch: Batch) => Value): (batch: Batch) => Value {
  return (batch) => {
    const [first] = batch
    if (!first) return make(batch)
    let known = first.made
    while (known && known.maker !== make) known = known.before
    if (known && isSame(known.batch, batch)) return known.value as Value
    const value = make(batch)
    first.made = { maker: make, batch, value, before: known ? without(known, first.made) : first.made }
    return value
  }
}

function without(one: Made, made: Made | undefined): Made | undefined {
  if (!made || made === one) return made?.before
  return { ...made, before: without(one, made.before) }
}

function isSame(one: Batch, other: Batch): boolean {
  if (one === other) return true
  return one.length === other.length && one.every((entry, index) => entry === other[index])
}
