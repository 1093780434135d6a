const themes = ['auto', 'light', 'dark'] as const

type Theme = (typeof themes)[number]

const names: Readonly<Record<Theme, string>> = { auto: 'as the system', light: 'light', dark: 'dark' }

// The console keeps its theme by the same name, and theme.js reads it before the first paint.
const keptAs = 'holdfast.theme'

export function startThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('.theme-button')
  if (!button) return
  button.hidden = false
  show(button)
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(current()) + 1) % themes.length] ?? 'auto'
    if (next === 'auto') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = next
    keep(next)
    show(button)
  })
}

function current(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'auto'
}

function show(button: HTMLButtonElement): void {
  const label = `Theme: ${names[current()]}`
  button.setAttribute('aria-label', label)
  button.title = label
}

function keep(theme: Theme): void {
  try {
    localStorage.setItem(keptAs, theme)
  } catch {
    // Where nothing may be kept, it counts for this page alone.
  }
}
