/** A part of a text, and whether it is what was searched for. */
export interface Piece {
  readonly text: string
  readonly isMatch: boolean
}

const excerptLength = 180
const before = 50

/** The part of a text in which the words stand. */
export function excerptOf(text: string, words: readonly string[]): readonly Piece[] {
  const line = text.replaceAll(/\s+/g, ' ')
  const first = patternOf(words)?.exec(line)?.index ?? 0
  const from = first <= before ? 0 : line.indexOf(' ', first - before) + 1
  const cut = line.slice(from, from + excerptLength)
  const isWhole = from + excerptLength >= line.length
  const pieces = markedPieces(isWhole ? cut : cut.slice(0, cut.lastIndexOf(' ')), words)
  return [
    ...(from > 0 ? [{ text: '… ', isMatch: false }] : []),
    ...pieces,
    ...(isWhole ? [] : [{ text: ' …', isMatch: false }]),
  ]
}

/** A whole text in pieces. */
export function markedPieces(text: string, words: readonly string[]): readonly Piece[] {
  const pattern = patternOf(words)
  if (!pattern) return [{ text, isMatch: false }]
  // Cut by a pattern in brackets, every second piece is a match.
  return text
    .split(pattern)
    .map((piece, n) => ({ text: piece, isMatch: n % 2 === 1 }))
    .filter((piece) => piece.text !== '')
}

/** The longest first, so that the whole of a name is marked and not its beginning. */
function patternOf(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined
  const longestFirst = words.toSorted((one, other) => other.length - one.length)
  return new RegExp(`(?<![\\p{Ll}\\p{N}])(${longestFirst.join('|')})`, 'giu')
}
