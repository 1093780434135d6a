import type { ClientNotice } from 'holdfast/client'
import { useSyncExternalStore } from 'react'

/**
 * Whether many logs can be followed at once. Over one WebSocket they can; where none can be opened each log is a connection
 * of its own, and a browser has six of them for everything.
 */
let hasMany = true
const listeners = new Set<() => void>()

export function heedNotice({ code }: ClientNotice): void {
  if (code === 'fell_back') set(false)
}

/**
 * The client was told to try again, or has a network again: what is followed from now on tries a WebSocket. If none opens, it says
 * so again.
 */
export function heedRetry(): void {
  set(true)
}

export function hasManyLines(): boolean {
  return hasMany
}

export function useHasManyLines(): boolean {
  return useSyncExternalStore(subscribe, hasManyLines)
}

function set(value: boolean): void {
  hasMany = value
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
