import { useSyncExternalStore } from 'react'

/** The one clock of the page: what shows an age or a running time moves with it, all at once. */
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    tick()
    timer = setInterval(tick, 1000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const idle = () => () => {}

/** The time, to the second. Without `isMoving` it stands still, and costs nothing. */
export function useNow(isMoving = true): number {
  return useSyncExternalStore(isMoving ? subscribe : idle, () => now)
}
