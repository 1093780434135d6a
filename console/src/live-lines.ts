import type { ClientNotice } from 'holdfast/client'
import { useSyncExternalStore } from 'react'

/**
 * Whether many logs can be followed at once. Over one WebSocket they can; where none can be opened each log is a connection
 * of its own, and a browser has six of them for everything.
 */
let hasMany = true
const listeners = new Set<() => void>()

export function heedNotice({ code }: ClientNotice): void {
  if (code !== 'fell_back') return
  hasMany = false
  for (const listener of listeners) listener()
}

export function useHasManyLines(): boolean {
  return useSyncExternalStore(subscribe, () => hasMany)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
