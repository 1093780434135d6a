import { type Html, html } from '../html.ts'
import { type Kind, languageOf } from './languages.ts'

/** A part of a code that leads somewhere. */
export interface CodeLink {
  readonly start: number
  readonly end: number
  readonly href: string
}

interface Piece {
  readonly kind: Kind
  readonly start: number
  readonly text: string
}

/** Code with its words coloured, and some of them as links. What is not known stays as it is. */
export function highlight(code: string, language: string, links: readonly CodeLink[] = []): Html {
  if (language === 'console') return consoleLines(code)
  const byStart = new Map(links.map((link) => [link.start, link]))
  return html`${piecesOf(code, language).map((piece) => written(piece, byStart.get(piece.start)))}`
}

function written({ kind, text }: Piece, link: CodeLink | undefined): Html {
  const coloured = kind === 'plain' ? html`${text}` : html`<span class="${kind}">${text}</span>`
  return link ? html`<a href="${link.href}">${coloured}</a>` : coloured
}

/** The whole code, without a gap. */
function piecesOf(code: string, language: string): readonly Piece[] {
  const rules = languageOf(language)
  const pieces: Piece[] = []
  let plainFrom = 0
  let at = 0
  const plainUntil = (end: number) => {
    if (end > plainFrom) pieces.push({ kind: 'plain', start: plainFrom, text: code.slice(plainFrom, end) })
  }
  while (at < code.length) {
    const found = firstMatch(rules, code, at)
    if (!found) {
      at += 1
      continue
    }
    plainUntil(at)
    pieces.push({ ...found, start: at })
    at += found.text.length
    plainFrom = at
  }
  plainUntil(code.length)
  return pieces
}

function firstMatch(rules: ReturnType<typeof languageOf>, code: string, at: number) {
  for (const [kind, pattern] of rules) {
    pattern.lastIndex = at
    const text = pattern.exec(code)?.[0]
    if (text) return { kind, text }
  }
  return undefined
}

/** What was typed after a prompt is a command; the rest is what it printed. */
function consoleLines(code: string): Html {
  let isCommand = false
  const lines = code.split('\n').map((line) => {
    const prompt = /^[$>] /.exec(line)?.[0]
    const isTyped = prompt !== undefined || isCommand
    isCommand = isTyped && line.endsWith('\\')
    if (!isTyped) return html`<span class="output">${line}</span>`
    return html`${prompt && html`<span class="prompt">${prompt}</span>`}${highlight(line.slice(prompt?.length ?? 0), 'sh')}`
  })
  return html`${lines.map((line, n) => html`${n > 0 && '\n'}${line}`)}`
}
