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

  it('tells what its colours mean, of those that it has', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', [{ spawn: { script: [{ fail: 'no' }] } }, { hang: true }])
    await goto(`/tasks/${id}?tab=timeline`)
    const words = () => page.locator('[data-legend]').allTextContents()
    await expect.poll(words).toEqual([' running', ' failed'])
  })

  it.each([360, 1024])('keeps the names of the deepest tree before its bars, at a width of %d', async (width) => {
    const { page, run, goto } = await openConsole({ viewport: { width, height: 800 } })
    const id = await run('t', descend(7))
    await goto(`/tasks/${id}?tab=timeline`)
    const lines = page.getByRole('list', { name: 'Tasks of the tree' }).getByRole('button')
    await lines.getByText('level-1').waitFor({ state: 'attached' })
    const texts = await lines.evaluateAll((buttons) =>
      buttons.map((button) => {
        const [name, bars] = button.children
        const title = name?.firstElementChild
        const status = name?.querySelector('[data-status]')?.getBoundingClientRect()
        return {
          isCut: (title?.scrollWidth ?? 0) > (title?.clientWidth ?? 0),
          isBefore: (status?.right ?? 0) <= (bars?.getBoundingClientRect().left ?? 0),
        }
      }),
    )
    expect(texts).toEqual(Array.from({ length: 8 }, () => ({ isCut: false, isBefore: true })))
  })
})

/** A task that spawns one, and that another, down to the last. */
function descend(levels: number): readonly object[] {
  if (levels === 0) return [{ hang: true }]
  return [{ spawn: { name: `level-${levels}`, script: descend(levels - 1), wait: true } }]
}
