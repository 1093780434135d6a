import { useSyncExternalStore } from 'react'

export interface Notice {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

// Long enough to be read twice.
const shownMs = 5000

let notices: readonly Notice[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Notice[]): void {
  notices = next
  for (const listener of listeners) listener()
}

/** Says in passing what came of something; screen readers say it too. */
export function say(text: string, { isBad = false }: { readonly isBad?: boolean } = {}): void {
  lastId += 1
  const id = lastId
  set([...notices.slice(-2), { id, text, isBad }])
  setTimeout(() => set(notices.filter((notice) => notice.id !== id)), shownMs)
}

export function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
