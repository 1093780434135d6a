import { graphemes } from '../show/display-width.ts'

/**
 * The line that a person types. It is a value: a key makes a new one, and may ask for something to be done.
 */
export interface Line {
  /** What stands left and right of the cursor. */
  readonly before: string
  readonly after: string
  /** What was typed earlier, oldest first. */
  readonly history: readonly string[]
  /** Where in the history it stands; at its length it is the line that is being written. */
  readonly historyIndex: number
  /** What was being written before the history was looked at. */
  readonly draft: string
  /** While a terminal pastes, a line end is a part of the text. */
  readonly isPasting: boolean
}

/** A key as `node:readline` tells it. */
export interface Key {
  readonly name?: string | undefined
  readonly sequence?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly meta?: boolean | undefined
}

export type LineAction =
  | { readonly do: 'submit'; readonly text: string }
  | { readonly do: 'interrupt' }
  /** The end of the input, on an empty line. */
  | { readonly do: 'end' }

// Enough for one sitting, and a bound for one that never ends.
const historyMax = 200

export const emptyLine: Line = { before: '', after: '', history: [], historyIndex: 0, draft: '', isPasting: false }

export function press(line: Line, key: Key): readonly [Line, LineAction?] {
  const { name = '', sequence = '' } = key
  if (name === 'paste-start') return [{ ...line, isPasting: true }]
  if (name === 'paste-end') return [{ ...line, isPasting: false }]
  if (name === 'return' || name === 'enter') return line.isPasting ? [insert(line, '\n')] : submit(line)
  if (line.isPasting && sequence === '\t') return [insert(line, '\t')]
  if (key.ctrl) return control(line, name)
  if (key.meta) return [line]
  const moved = move(line, name)
  if (moved) return [moved]
  // What is left of escape sequences and control characters is no text.
  return /^[\p{Cc}\p{Cs}]/u.test(sequence) ? [line] : [insert(line, sequence)]
}

function submit(line: Line): readonly [Line, LineAction] {
  const text = line.before + line.after
  const isNew = text.trim() !== '' && text !== line.history.at(-1)
  const history = isNew ? [...line.history, text].slice(-historyMax) : line.history
  return [
    { ...emptyLine, history, historyIndex: history.length },
    { do: 'submit', text },
  ]
}

function control(line: Line, name: string): readonly [Line, LineAction?] {
  const { before, after } = line
  switch (name) {
    case 'c':
      return [line, { do: 'interrupt' }]
    case 'd':
      return before + after === '' ? [line, { do: 'end' }] : [{ ...line, after: withoutFirst(after) }]
    case 'a':
      return [{ ...line, before: '', after: before + after }]
    case 'e':
      return [{ ...line, before: before + after, after: '' }]
    case 'u':
      return [{ ...line, before: '' }]
    case 'k':
      return [{ ...line, after: '' }]
    case 'w':
      return [{ ...line, before: before.replace(/\S+\s*$/, '') }]
    case 'h':
      return [{ ...line, before: withoutLast(before) }]
    default:
      return [line]
  }
}

function move(line: Line, name: string): Line | undefined {
  const { before, after } = line
  switch (name) {
    case 'backspace':
      return { ...line, before: withoutLast(before) }
    case 'delete':
      return { ...line, after: withoutFirst(after) }
    case 'left': {
      const rest = withoutLast(before)
      return { ...line, before: rest, after: before.slice(rest.length) + after }
    }
    case 'right': {
      const rest = withoutFirst(after)
      return { ...line, before: before + after.slice(0, after.length - rest.length), after: rest }
    }
    case 'home':
      return { ...line, before: '', after: before + after }
    case 'end':
      return { ...line, before: before + after, after: '' }
    case 'up':
      return recall(line, line.historyIndex - 1)
    case 'down':
      return recall(line, line.historyIndex + 1)
    default:
      return undefined
  }
}

function recall(line: Line, historyIndex: number): Line {
  const { history } = line
  if (historyIndex < 0 || historyIndex > history.length) return line
  const draft = line.historyIndex === history.length ? line.before + line.after : line.draft
  return { ...line, draft, historyIndex, before: history[historyIndex] ?? draft, after: '' }
}

function insert(line: Line, text: string): Line {
  return { ...line, before: line.before + text }
}

function withoutLast(text: string): string {
  const last = [...graphemes(text)].at(-1)
  return last ? text.slice(0, last.index) : ''
}

function withoutFirst(text: string): string {
  const [first] = graphemes(text)
  return first ? text.slice(first.segment.length) : ''
}
