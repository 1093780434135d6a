/** Of the words, the one that the fewest changes of a letter lead to: what a mistyped one was probably meant to be. */
export function nearest(mistyped: string, words: readonly string[]): string | undefined {
  const ranked = words.map((word) => ({ word, changes: changesBetween(mistyped.toLowerCase(), word.toLowerCase()) }))
  return ranked.sort((one, other) => one.changes - other.changes)[0]?.word
}

/** How many letters have to be put in, left out or replaced (Levenshtein's distance). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = cell(row, column - 1) + (to[column - 1] === letter ? 0 : 1)
      next.push(Math.min(replaced, cell(row, column) + 1, cell(next, column - 1) + 1))
    }
    row = next
  }
  return cell(row, to.length)
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
