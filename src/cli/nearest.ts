// A word of up to so many letters is mistyped by one of them, a longer one by two.
const shortLengthMax = 5
// Fewer letters are part of too many words.
const partLengthMin = 3

/**
 * Of the words, the one that the fewest changes of a letter lead to: what a mistyped one was probably meant to be. One that needs
 * more changes than people make by mistake is not meant, unless the mistyped one is a part of it.
 */
export function nearest(mistyped: string, words: readonly string[]): string | undefined {
  const given = mistyped.toLowerCase()
  const changesMax = given.length <= shortLengthMax ? 1 : 2
  const near = words.flatMap((word) => {
    const known = word.toLowerCase()
    const changes = changesBetween(given, known)
    const isPart = given.length >= partLengthMin && known.includes(given)
    return isPart || changes <= Math.min(changesMax, given.length - 1) ? [{ word, changes }] : []
  })
  return near.toSorted((one, other) => one.changes - other.changes)[0]?.word
}

/** The nearest word as the end of a message; without one, what else helps. */
export function nearestHint(mistyped: string, words: readonly string[], otherwise = ''): string {
  const near = nearest(mistyped, words)
  return near === undefined ? otherwise : `. The nearest is ${near}`
}

/** How many letters have to be put in, left out, replaced or swapped with the next one. */
function changesBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (const [index, letter] of [...from].entries()) {
    const [before, last = []] = [rows[index - 1], rows[index]]
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = cell(last, column - 1) + (to[column - 1] === letter ? 0 : 1)
      const isSwapped = letter === to[column - 2] && from[index - 1] === to[column - 1]
      const swapped = isSwapped ? cell(before, column - 2) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(replaced, swapped, cell(last, column) + 1, cell(next, column - 1) + 1))
    }
    rows.push(next)
  }
  return cell(rows.at(-1), to.length)
}

function cell(row: readonly number[] | undefined, column: number): number {
  return row?.[column] ?? Number.POSITIVE_INFINITY
}
