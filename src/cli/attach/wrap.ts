import { displayWidth, graphemes } from '../show/display-width.ts'

/** Breaks a line where it gets wider than this, between words if there is a place: full rows, and the rest. */
export function wrap(line: string, columns: number): readonly string[] {
  const rows: string[] = []
  let rest = line
  while (columns > 0 && displayWidth(rest) > columns) {
    const fitting = prefix(rest, columns)
    // The space may also be the first that does not fit any more.
    const space = rest.slice(0, fitting.length + 1).lastIndexOf(' ')
    // A break far to the left wastes the row; a word that long is rather cut.
    const end = space > fitting.length / 2 ? space : fitting.length
    rows.push(rest.slice(0, end))
    rest = rest.slice(end === space ? end + 1 : end)
  }
  return [...rows, rest]
}

/** As much of a text as fits, and at least one character. */
function prefix(text: string, columns: number): string {
  let [kept, width] = ['', 0]
  for (const { segment } of graphemes.segment(text)) {
    width += displayWidth(segment)
    if (width > columns && kept !== '') break
    kept += segment
  }
  return kept
}

/** As much of the end of a text as fits. */
export function suffix(text: string, columns: number): string {
  const all = [...graphemes.segment(text)].map(({ segment }) => segment)
  let width = 0
  let from = all.length
  while (from > 0) {
    width += displayWidth(all[from - 1] ?? '')
    if (width > columns) break
    from -= 1
  }
  return all.slice(from).join('')
}
