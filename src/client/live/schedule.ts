import type { ClientClock } from '../clock.ts'

/** Calls back soon, once, and never before it returns. */
export type Schedule = (publish: () => void) => void

interface Page {
  requestAnimationFrame?(callback: () => void): unknown
}

// A page that is not shown is given no frames, and yet what it plays or counts should not stand still.
const frameMsMax = 250

/** With the next frame of a page, so that nothing is drawn more often than it is seen; elsewhere at once. */
export function frameSchedule(clock: ClientClock): Schedule {
  const page = globalThis as Page
  if (!page.requestAnimationFrame) return (publish) => queueMicrotask(publish)
  return (publish) => {
    let isDue = true
    const once = (): void => {
      late.cancel()
      if (isDue) publish()
      isDue = false
    }
    const late = clock.setTimer(frameMsMax, once)
    page.requestAnimationFrame?.(once)
  }
}
