import { cut, displayWidth, pad } from './display-width.ts'
import { oneLine } from './plain-text.ts'

export interface Column<Row> {
  readonly title: string
  /** The whole value, as a pipe gets it. */
  readonly value: (row: Row) => string
  /** What a terminal shows instead, such as an age for an instant. */
  readonly shown?: (row: Row) => string
  /** The colour of what is shown. */
  readonly paint?: (row: Row) => (text: string) => string
  /** Gives way where the lines are longer than the terminal is wide. */
  readonly shrinks?: true
  /** Is left out on a terminal while no row has a value. */
  readonly hides?: true
}

const gap = '  '
// Below this a column says nothing any more; the line is then rather cut at its end.
const shrunkColumnsMin = 8

/** One line per row, tabs between whole values and nothing above: what `cut` and `awk` take. */
export function tabbed<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return rows.map((row) => `${columns.map(({ value }) => oneLine(value(row))).join('\t')}\n`).join('')
}

/** Titles and rows with aligned columns, no line wider than the terminal. */
export function aligned<Row>(
  given: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  paintTitle: (text: string) => string,
): string {
  const columns = given.filter(({ hides, shown, value }) => !hides || rows.some((row) => (shown ?? value)(row) !== ''))
  const cells = rows.map((row) => columns.map(({ shown, value }) => oneLine((shown ?? value)(row))))
  const natural = columns.map(({ title }, index) =>
    cells.reduce((widest, each) => Math.max(widest, displayWidth(each[index] ?? '')), displayWidth(title)),
  )
  const widths = fitted(columns, natural, width)
  const line = (texts: readonly string[], paints: readonly ((text: string) => string)[]): string => {
    let [text, used] = ['', 0]
    for (const [index, each] of texts.entries()) {
      const left = width - used
      if (left <= 0) break
      const fitting = cut(each, Math.min(widths[index] ?? 0, left))
      const isLast = index === texts.length - 1
      const padded = isLast ? fitting : pad(fitting, Math.min((widths[index] ?? 0) + gap.length, left))
      used += displayWidth(padded)
      text += padded.replace(fitting, () => paints[index]?.(fitting) ?? fitting)
    }
    return `${text.trimEnd()}\n`
  }
  const titles = line(
    columns.map(({ title }) => title),
    columns.map(() => paintTitle),
  )
  const lines = rows.map((row, at) =>
    line(
      cells[at] ?? [],
      columns.map(({ paint }) => paint?.(row) ?? plain),
    ),
  )
  return titles + lines.join('')
}

function plain(text: string): string {
  return text
}

/** Takes what is too much from the widest of those that give way, column by column. */
function fitted<Row>(columns: readonly Column<Row>[], natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  const total = (): number => widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1))
  for (let excess = total() - width; excess > 0; excess -= 1) {
    const [widest] = [...columns.keys()]
      .filter((index) => columns[index]?.shrinks && (widths[index] ?? 0) > shrunkColumnsMin)
      .sort((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}
