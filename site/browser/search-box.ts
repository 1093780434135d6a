import { loadSearch } from './load-search.ts'
import { resultOption } from './results.ts'

interface Box {
  readonly input: HTMLInputElement
  readonly results: HTMLElement
  readonly note: HTMLElement
}

/** The field in the header, its results below it, and the keys that reach both. */
export function startSearch(): void {
  const frame = document.querySelector<HTMLElement>('.search')
  const input = frame?.querySelector<HTMLInputElement>('input')
  const results = frame?.querySelector<HTMLElement>('.results')
  const note = frame?.querySelector<HTMLElement>('.search-note')
  if (!frame || !input || !results || !note) return
  frame.hidden = false
  const box = { input, results, note }
  // Before the first letter is typed, the index is on its way.
  input.addEventListener('focus', () => void loadSearch().catch(() => undefined))
  input.addEventListener('input', () => void search(box))
  input.addEventListener('keydown', (event) => onKey(box, event))
  frame.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && frame.contains(relatedTarget))) close(box)
  })
  input.addEventListener('focus', () => void search(box))
  results.addEventListener('click', () => close(box))
  document.addEventListener('keydown', (event) => {
    if (!isShortcut(event)) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}

/** `/`, unless somebody types it, and Ctrl or Command with K. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.key === 'k' && (event.ctrlKey || event.metaKey)) return true
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
  return event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
}

async function search(box: Box): Promise<void> {
  const query = box.input.value.trim()
  if (query === '') return close(box)
  const found = await loadSearch().then(
    (ask) => ask(query),
    () => undefined,
  )
  // Somebody may have typed on meanwhile; that has its own answer.
  if (box.input.value.trim() !== query || document.activeElement !== box.input) return
  if (!found) return say(box, 'The search could not be loaded.')
  if (found.length === 0) return say(box, `Nothing is said of “${query}”.`)
  box.note.hidden = true
  box.results.replaceChildren(...found.map(resultOption))
  box.results.hidden = false
  box.results.scrollTop = 0
  box.input.setAttribute('aria-expanded', 'true')
  select(box, 0)
}

function say({ input, results, note }: Box, text: string): void {
  results.hidden = true
  results.replaceChildren()
  input.setAttribute('aria-expanded', 'false')
  note.textContent = text
  note.hidden = false
}

function close({ input, results, note }: Box): void {
  results.hidden = true
  note.hidden = true
  results.replaceChildren()
  input.setAttribute('aria-expanded', 'false')
  input.removeAttribute('aria-activedescendant')
}

function onKey(box: Box, event: KeyboardEvent): void {
  const options = [...box.results.querySelectorAll<HTMLAnchorElement>('[role="option"]')]
  const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true')
  if (event.key === 'Escape') {
    if (box.results.hidden && box.note.hidden) box.input.blur()
    close(box)
  } else if (event.key === 'Enter') {
    options[at]?.click()
  } else if (event.key === 'ArrowDown') {
    select(box, (at + 1) % options.length)
  } else if (event.key === 'ArrowUp') {
    select(box, (at - 1 + options.length) % options.length)
  } else return
  event.preventDefault()
}

function select({ input, results }: Box, position: number): void {
  for (const [n, option] of [...results.children].entries()) {
    option.setAttribute('aria-selected', String(n === position))
    if (n !== position) continue
    input.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }
}
