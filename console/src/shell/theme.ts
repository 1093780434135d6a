import { useSyncExternalStore } from 'react'

export const themes = ['auto', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

// The same name is read by theme.js, which sets the theme before the first paint.
const keptAs = 'holdfast.theme'
const listeners = new Set<() => void>()

function current(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'auto'
}

export function setTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem(keptAs, theme)
  } catch {
    // Where nothing may be kept, it counts for this page alone.
  }
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, current)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
