import { stripVTControlCharacters } from 'node:util'
import type { Surroundings } from '../surroundings.ts'
import { displayWidth } from './display-width.ts'

/** A part of a terminal that is painted again and again in the same place. What stood above it stays. */
export class Screen {
  readonly #around: Pick<Surroundings, 'out' | 'columns' | 'rows'>
  #paintedLines = 0

  constructor(around: Pick<Surroundings, 'out' | 'columns' | 'rows'>) {
    this.#around = around
  }

  /** Lines that are too many for the terminal are counted instead: what has scrolled away cannot be painted again. */
  paint(text: string): void {
    const { out, columns, rows } = this.#around
    const lines = text.replace(/\n$/, '').split('\n')
    const fitting = Math.max(1, rows() - 2)
    const kept = lines.length <= fitting ? lines : [...lines.slice(0, fitting), `… ${lines.length - fitting} more`]
    const up = this.#paintedLines > 0 ? `\u001b[${this.#paintedLines}A` : ''
    out(`${up}\r\u001b[J${kept.join('\n')}\n`)
    // A terminal that became narrower has wrapped what was painted.
    this.#paintedLines = kept.reduce((sum, line) => sum + rowsOf(line, columns()), 0)
  }
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(displayWidth(stripVTControlCharacters(line)) / columns))
}
