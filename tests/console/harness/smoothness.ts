import type { Page } from 'playwright-core'

export interface Smoothness {
  /** The longest time for which the page did not answer. */
  readonly longestTaskMs: number
  readonly longTaskCount: number
  readonly heapMb: number
  readonly elementCount: number
}

/** Begins to note for how long the page is busy without a pause. */
export async function watchSmoothness(page: Page): Promise<() => Promise<Smoothness>> {
  await page.evaluate(() => {
    const durations: number[] = []
    Object.assign(globalThis, { durations })
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) durations.push(duration)
    }).observe({ type: 'longtask' })
  })
  return () =>
    page.evaluate(() => {
      const { durations } = globalThis as unknown as { durations: number[] }
      const { memory } = performance as unknown as { memory: { usedJSHeapSize: number } }
      return {
        longestTaskMs: Math.round(Math.max(0, ...durations)),
        longTaskCount: durations.length,
        heapMb: Math.round(memory.usedJSHeapSize / 1_000_000),
        elementCount: document.querySelectorAll('*').length,
      }
    })
}

/** Turns the wheel down until this is so; gives up only with the test. */
export async function scrollUntil(page: Page, isThere: () => Promise<boolean>, byPx: number): Promise<number> {
  for (let turns = 1; ; turns += 1) {
    if (await isThere()) return turns
    await page.mouse.wheel(0, byPx)
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined))))
  }
}
