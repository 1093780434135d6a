import type { ThreadEvent } from '../../client/index.ts'
import { instant } from '../show/ages.ts'
import { cut, displayWidth } from '../show/display-width.ts'
import { oneLine, plainText } from '../show/plain-text.ts'
import type { Style, StyleName } from '../show/show.ts'
import { AbandonedOutput } from './abandoned.ts'
import { summaryOf } from './event-summary.ts'

export interface EventLinesOptions {
  /** Aligned and, but for why a task failed, cut to this many columns; without it tabs stand between whole values. */
  readonly columns?: () => number
  readonly style: Style
  /** What a line begins with, such as the name of the task; without it nothing. */
  readonly prefix?: (event: ThreadEvent) => readonly string[]
}

const joinedTypes: readonly string[] = ['text.delta', 'thinking']
const typeColumns = 16
const numberColumns = 5
const separators = /[\n\t\u2028\u2029]+/g
// Marks the lines of a text that has several, so that none of them looks like an event.
const margin = '    '

/**
 * Puts events into lines for people: number, time, type and what it says. What an agent says piece by piece is joined, under
 * the number of its first piece, until something else happens. Nothing in it is a command to a terminal.
 */
export class EventLines {
  readonly #options: EventLinesOptions
  readonly #abandoned = new AbandonedOutput()
  /** Whose text the last line is that has no end yet. */
  #open: string | undefined

  constructor(options: EventLinesOptions) {
    this.#options = options
  }

  /** What is to be written for an event. */
  add(event: ThreadEvent): string {
    const abandoned = this.#abandoned.heard(event)
    if (joinedTypes.includes(event.type)) return this.#joined(event)
    const summary = [oneLine(summaryOf(event)), abandoned].filter((part) => part).join('; ')
    return `${this.end()}${this.#line(event, summary)}\n`
  }

  /** Ends the line that is open. */
  end(): string {
    if (this.#open === undefined) return ''
    this.#open = undefined
    return '\n'
  }

  #joined(event: ThreadEvent): string {
    const said = plainText(summaryOf(event))
    // In a pipe nothing but the end of an event is a line end, and nothing but the next column a tab.
    const text = this.#options.columns ? said.replaceAll('\n', `\n${margin}`) : said.replace(separators, ' ')
    const key = `${event.thread} ${event.task ?? ''} ${event.type}`
    if (this.#open === key) return text
    const head = this.end() + this.#head(event).painted
    this.#open = key
    return head + text
  }

  #line(event: ThreadEvent, summary: string): string {
    const { columns } = this.#options
    const { painted, plain } = this.#head(event)
    const isWhole = !columns || event.type === 'task.failed'
    return (painted + (isWhole ? summary : cut(summary, columns() - displayWidth(plain)))).trimEnd()
  }

  #head(event: ThreadEvent): { readonly painted: string; readonly plain: string } {
    const { columns, style, prefix } = this.#options
    const { seq, at, type } = event
    const before = prefix ? prefix(event).map(oneLine) : []
    if (!columns) {
      const plain = [...before, seq, new Date(at).toISOString(), type, ''].join('\t')
      return { plain, painted: plain }
    }
    const fields = [
      ...before.map((text) => style.magenta(text)),
      style.dim(String(seq).padStart(numberColumns)),
      style.dim(instant(at).slice(-8)),
      style[styleOf(type)](type.padEnd(typeColumns)),
      '',
    ]
    const plain = [...before, String(seq).padStart(numberColumns), '00:00:00', type.padEnd(typeColumns), ''].join(' ')
    return { plain, painted: fields.join(' ') }
  }
}

function styleOf(type: string): StyleName {
  if (type === 'task.failed') return 'red'
  if (type === 'task.cancelled' || type === 'task.cancelling' || type.startsWith('question.')) return 'yellow'
  if (type === 'task.completed') return 'green'
  return type.startsWith('task.') || type.startsWith('message.') ? 'blue' : 'cyan'
}
