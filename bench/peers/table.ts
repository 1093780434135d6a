// The table that `bench:peers` prints: a line per peer, a column per thing measured, and in each cell the figure and its ratio to the
// reference, above 1 where the peer is better.

export const rowNames = [
  'accept',
  'first',
  '1x1',
  '100x1',
  '1x100',
  '1x1000',
  'replay',
  'resume',
  'cancel',
  'subscriber',
  'parked',
] as const

export type RowName = (typeof rowNames)[number]

interface Row {
  readonly title: string
  readonly unit: 'perSecond' | 'ms' | 'kB'
}

const rows: Readonly<Record<RowName, Row>> = {
  accept: { title: 'accepted runs', unit: 'perSecond' },
  first: { title: 'first event', unit: 'ms' },
  '1x1': { title: '1 run × 1', unit: 'perSecond' },
  '100x1': { title: '100 runs × 1', unit: 'perSecond' },
  '1x100': { title: '1 × 100', unit: 'perSecond' },
  '1x1000': { title: '1 × 1,000', unit: 'perSecond' },
  replay: { title: 'replay 10k', unit: 'ms' },
  resume: { title: 'resume 10k', unit: 'ms' },
  cancel: { title: 'cancel', unit: 'ms' },
  subscriber: { title: 'idle subscriber', unit: 'kB' },
  parked: { title: 'parked run', unit: 'kB' },
}

/** What was measured of a peer: a figure, or why there is none. */
export type Cell = { readonly value: number } | { readonly reason: string }

export interface Line {
  readonly title: string
  /** What survives in it. */
  readonly keeps: string
  /** A limit rather than a peer: nobody is compared with it to find the best. */
  readonly isLimit?: boolean
  readonly cells: Readonly<Partial<Record<RowName, Cell>>>
}

/** How many times better than the reference: more per second, or less time or memory. */
export function ratio(row: RowName, value: number, reference: number): number {
  return rows[row].unit === 'perSecond' ? value / reference : reference / value
}

/** The figure that the others of a column are compared with: that of the first line, or without one the best of the peers. */
export function referenceOf(row: RowName, lines: readonly Line[], isReference: (line: Line) => boolean) {
  const own = lines.filter(isReference).flatMap((line) => valuesOf(line, row))
  const values = own.length > 0 ? own : lines.filter(({ isLimit }) => !isLimit).flatMap((line) => valuesOf(line, row))
  if (values.length === 0) return undefined
  return rows[row].unit === 'perSecond' ? Math.max(...values) : Math.min(...values)
}

function valuesOf({ cells }: Line, row: RowName): number[] {
  const cell = cells[row]
  return cell && 'value' in cell ? [cell.value] : []
}

export function valueText(row: RowName, value: number): string {
  const { unit } = rows[row]
  if (unit === 'perSecond') return `${Number(value.toPrecision(3)).toLocaleString('en')}/s`
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0
  return `${value.toFixed(digits)} ${unit}`
}

function ratioText(value: number): string {
  if (value >= 10) return value.toFixed(0)
  return value >= 1 ? value.toFixed(1) : value.toPrecision(2)
}

/** The table in Markdown, then for every peer why it has dashes. */
export function tableText(
  lines: readonly Line[],
  names: readonly RowName[],
  isReference: (line: Line) => boolean,
): string {
  const body = lines.map((line) => [
    line.title,
    line.keeps,
    ...names.map((name) => cellText(name, cellOf(line, name), referenceOf(name, lines, isReference))),
  ])
  const head = ['', 'keeps', ...names.map((name) => rows[name].title)]
  return [...grid([head, ...body]), '', ...lines.flatMap((line) => notesOf(line, names))].join('\n').trimEnd()
}

const cellOf = ({ cells }: Line, name: RowName): Cell => cells[name] ?? { reason: 'not measured' }

function cellText(name: RowName, cell: Cell, reference: number | undefined): string {
  if ('reason' in cell) return '–'
  const isComparable = reference !== undefined && reference > 0 && cell.value > 0
  const compared = isComparable ? ` (${ratioText(ratio(name, cell.value, reference))})` : ''
  return `${valueText(name, cell.value)}${compared}`
}

/** One line per reason, with all that it is the reason of. */
function notesOf(line: Line, names: readonly RowName[]): string[] {
  const titles = new Map<string, string[]>()
  for (const name of names) {
    const cell = cellOf(line, name)
    if ('reason' in cell) titles.set(cell.reason, [...(titles.get(cell.reason) ?? []), rows[name].title])
  }
  return [...titles].map(([reason, of]) => `- ${line.title} has no ${of.join(', ')}: ${reason}`)
}

function grid(cells: readonly (readonly string[])[]): string[] {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)))
  const text = (row: readonly string[]) => `| ${row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = cells
  return [text(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(text)]
}
