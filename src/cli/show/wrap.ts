import { displayWidth, graphemes } from './display-width.ts'

/** Breaks a line where it gets wider than this, between words if there is a place: full rows, and the rest. */
export function wrap(line: string, columns: number): readonly string[] {
  if (columns < 1) return [line]
  const rows: string[] = []
  // Where the row begins, the last space in it, and how wide it is so far.
  let [from, space, width] = [0, -1, 0]
  for (const { segment, index } of graphemes(line)) {
    const isSpace = segment === ' '
    const own = displayWidth(segment)
    // The space may also be the first that does not fit any more.
    if (isSpace) space = index
    if (width + own > columns && index > from) {
      // A break far to the left wastes the row; a word that long is rather cut.
      const isBetweenWords = space - from > (index - from) / 2
      const end = isBetweenWords ? space : index
      rows.push(line.slice(from, end))
      from = isBetweenWords ? end + 1 : end
      width = displayWidth(line.slice(from, index))
    }
    if (index >= from) width += own
  }
  return [...rows, line.slice(from)]
}

/** As much of the end of a text as fits. */
export function suffix(text: string, columns: number): string {
  const all = [...graphemes(text)].map(({ segment }) => segment)
  let width = 0
  let from = all.length
  while (from > 0) {
    width += displayWidth(all[from - 1] ?? '')
    if (width > columns) break
    from -= 1
  }
  return all.slice(from).join('')
}
