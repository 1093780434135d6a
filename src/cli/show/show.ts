import { styleText } from 'node:util'
import type { Surroundings } from '../surroundings.ts'
import { jsonText } from './json-text.ts'
import { oneLine } from './plain-text.ts'
import { aligned, type Column, tabbed } from './table.ts'

const styleNames = ['bold', 'dim', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan'] as const

export type StyleName = (typeof styleNames)[number]
export type Style = Readonly<Record<StyleName, (text: string) => string>>

/** How a command speaks. stdout is data; hints and notices are for a person, on stderr. */
export interface Show {
  /** Aligned and cut to width on a terminal, else tab-separated with whole values and without titles. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void
  /** One document: indented on a terminal, else on one line. */
  json(value: unknown): void
  /** One of many documents, each on a line of its own. */
  jsonLine(value: unknown): void
  /** A line of data. What comes from others has to be plain text by then. */
  line(text: string): void
  /** The next useful command, or what an empty answer means. Not with --quiet or --json. */
  hint(text: string): void
  /** What happened to the connection or the command itself. Not with --quiet. */
  notice(text: string): void
  /** Of text on stdout; without colour each is the identity. */
  readonly style: Style
}

export interface ShowOptions {
  readonly json: boolean
  readonly quiet: boolean
  readonly color: boolean
}

/** What it speaks to. */
export type Listener = Pick<Surroundings, 'out' | 'err' | 'isTty' | 'columns'>

export function createShow(around: Listener, { json, quiet, color }: ShowOptions): Show {
  const { out, err, isTty, columns } = around
  const style = styles(color)
  const dim = styles(color && isTty.err).dim
  return {
    table(titled, rows) {
      if (!isTty.out) return out(tabbed(titled, rows))
      if (rows.length > 0) out(aligned(titled, rows, columns(), style.bold))
    },
    json: (value) => out(`${jsonText(value, isTty.out ? 2 : undefined)}\n`),
    jsonLine: (value) => out(`${jsonText(value)}\n`),
    line: (text) => out(`${text}\n`),
    hint: (text) => {
      if (!quiet && !json) err(`${dim(oneLine(text))}\n`)
    },
    notice: (text) => {
      if (!quiet) err(`${dim(oneLine(text))}\n`)
    },
    style,
  }
}

function styles(isOn: boolean): Style {
  const entries = styleNames.map((name) => [
    name,
    (text: string) => (isOn && text !== '' ? styleText(name, text, { validateStream: false }) : text),
  ])
  return Object.fromEntries(entries) as Style
}
