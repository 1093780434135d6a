import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

describe('the timeline', () => {
  it.each([390, 768, 1024])('shows each time of its axis whole, or not at all, at a width of %d', async (width) => {
    const { page, run, goto } = await openConsole({ viewport: { width, height: 800 } })
    const id = await run('t', [{ hang: true }])
    // So long that the last time of the axis is near its end: of 110 s, 1 m 40 s.
    await page.clock.setFixedTime(Date.now() + 110_000)
    await goto(`/tasks/${id}?tab=timeline`)
    const axis = page.locator('[data-axis]')
    await axis.getByText('0', { exact: true }).waitFor()
    const { ticks, right } = await axis.evaluate((element) => {
      const boxes = [...element.querySelectorAll('[data-tick]')].map((tick) => {
        const box = tick.getBoundingClientRect()
        const { bottom } = (tick.parentElement ?? element).getBoundingClientRect()
        return { left: box.left, right: box.right, height: box.height, isSeen: box.top < bottom }
      })
      return { ticks: boxes.filter(({ isSeen }) => isSeen), right: element.getBoundingClientRect().right }
    })
    expect(ticks.length).toBeGreaterThanOrEqual(2)
    for (const [place, tick] of ticks.entries()) {
      expect(tick.height).toBeLessThanOrEqual(16)
      expect(tick.right).toBeLessThanOrEqual(ticks[place + 1]?.left ?? right)
    }
  })
})
