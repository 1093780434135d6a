import { excerptOf, markedPieces, type Piece } from '../search/excerpt.ts'
import type { Found } from '../search/search.ts'

/** A result as a line that leads to it. */
export function resultOption(found: Found, position: number): HTMLAnchorElement {
  const option = document.createElement('a')
  option.id = `result-${position}`
  option.setAttribute('role', 'option')
  option.setAttribute('aria-selected', 'false')
  option.tabIndex = -1
  option.href = `${document.documentElement.dataset['root'] ?? ''}${found.place}${found.id && `#${found.id}`}`
  const where = found.title === found.heading ? found.group : `${found.group} › ${found.title}`
  option.append(
    line('where', [{ text: where, isMatch: false }]),
    line('heading', markedPieces(found.heading, found.words)),
    line('excerpt', excerptOf(found.text, found.words)),
  )
  return option
}

function line(name: string, pieces: readonly Piece[]): HTMLElement {
  const element = document.createElement('span')
  element.className = name
  element.append(...pieces.map(({ text, isMatch }) => (isMatch ? marked(text) : text)))
  return element
}

function marked(text: string): HTMLElement {
  const element = document.createElement('mark')
  element.textContent = text
  return element
}
