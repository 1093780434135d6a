import { cut, displayWidth } from '../show/display-width.ts'
import { suffix, wrap } from '../show/wrap.ts'

export interface Footer {
  readonly status: string
  readonly prompt: string
  /** What stands left and right of the cursor. */
  readonly before: string
  readonly after: string
}

type Paint = (text: string) => string

const plain: Paint = (text) => text
const clearDown = '\r\u001b[J'
// Terminals that know it tell a pasted text from a typed one; the others ignore it.
const pasteOn = '\u001b[?2004h'
const pasteOff = '\u001b[?2004l'

/**
 * A terminal with text that grows downwards and, under it, a status and an input line. What is finished is written once and
 * scrolls away like any output; only the rows at the bottom are drawn anew: the line that still grows, the status, the input.
 *
 * S1 No row at the bottom is as wide as the terminal, so none of them wraps while the terminal keeps its width.
 * S2 The cursor stands in the input line, the last row. How many rows are above it is counted by the width of the terminal as
 *    it is now: one that was made narrower has wrapped them.
 */
export class ConversationScreen {
  readonly #write: (text: string) => void
  readonly #columns: () => number
  /** The rows above the input line as they were drawn, and how far right the cursor stands. */
  #drawn: { readonly rows: readonly string[]; readonly cursor: number } | undefined
  #growing = ''
  #paint: Paint = plain
  #footer: Footer | undefined

  constructor(write: (text: string) => void, columns: () => number) {
    this.#write = write
    this.#columns = columns
    write(pasteOn)
  }

  /** A line of its own. It may be of any length; the terminal breaks it. */
  line(text: string): void {
    this.#draw(`${this.#ended()}${text}\n`)
  }

  /** Goes on with the last line that came this way. */
  stream(text: string, paint: Paint = plain): void {
    const before = paint === this.#paint ? '' : this.#ended()
    this.#paint = paint
    const lines = `${this.#growing}${text}`.split('\n').flatMap((line) => wrap(line, this.#width))
    this.#growing = lines.pop() ?? ''
    this.#draw(before + lines.map((line) => `${paint(line)}\n`).join(''))
  }

  /** Ends the line that grows, if one does. */
  endStream(): void {
    if (this.#growing !== '') this.#draw(this.#ended())
  }

  footer(footer: Footer): void {
    this.#footer = footer
    this.#draw('')
  }

  /** Takes the rows at the bottom away; what is on the screen stays. */
  close(): void {
    this.#write(`${this.#erased()}${this.#ended()}${pasteOff}`)
    this.#footer = undefined
  }

  get #width(): number {
    return Math.max(1, this.#columns() - 1)
  }

  #ended(): string {
    const text = this.#growing === '' ? '' : `${this.#paint(this.#growing)}\n`
    this.#growing = ''
    return text
  }

  #draw(finished: string): void {
    const erased = this.#erased()
    const footer = this.#footer
    if (!footer) return this.#write(erased + finished)
    const width = this.#width
    const growing = this.#growing === '' ? [] : [this.#growing]
    const status = cut(footer.status, width)
    const room = width - displayWidth(footer.prompt)
    const before = suffix(shown(footer.before), room)
    const after = cut(shown(footer.after), room - displayWidth(before))
    const left = footer.prompt + before
    const cursor = displayWidth(left)
    const toCursor = cursor > 0 ? `\r\u001b[${cursor}C` : '\r'
    const rows = [...growing.map(this.#paint), status].map((row) => `${row}\n`).join('')
    this.#write(`${erased}${finished}${rows}${left}${after}${toCursor}`)
    this.#drawn = { rows: [...growing, status], cursor }
  }

  #erased(): string {
    if (!this.#drawn) return ''
    const { rows, cursor } = this.#drawn
    const columns = Math.max(1, this.#columns())
    const above = rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(displayWidth(row) / columns)), 0)
    const up = above + Math.floor(cursor / columns)
    this.#drawn = undefined
    return up > 0 ? `\u001b[${up}A${clearDown}` : clearDown
  }
}

/** A text of several lines in the one row there is. */
function shown(text: string): string {
  return text.replaceAll('\n', '⏎').replaceAll('\t', ' ')
}
