import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

interface Box {
  readonly left: number
  readonly right: number
}

/** Where the cells of a row are, from left to right, and what stands in them. */
async function cellsOf(page: Page, row: string): Promise<readonly (Box & { readonly text: string })[]> {
  const cells = page.locator(row).locator('[role=gridcell], [role=columnheader]')
  return cells.evaluateAll((elements) =>
    elements
      .filter((element) => getComputedStyle(element).display !== 'none')
      .map((element) => {
        const { left, right } = element.getBoundingClientRect()
        return { left, right, text: element.textContent }
      }),
  )
}

async function boxOf(page: Page, selector: string): Promise<Box> {
  const box = await page.locator(selector).boundingBox()
  if (!box) throw new Error(`${selector} is not on the screen`)
  return { left: box.x, right: box.x + box.width }
}

const ask = { ask: { text: 'Deploy?', options: ['Yes'] } }

describe('the list of tasks', () => {
  it.each([768, 1024, 1280, 1440])('is readable at a width of %d', async (width) => {
    const { page, run } = await openConsole({ path: '/tasks', viewport: { width, height: 800 } })
    const description = 'Compare what the three suppliers offered with what was ordered in spring'
    const script = [{ spawn: { script: [{ hang: true }] } }, ask]
    const id = await run('a-thread-with-a-long-name', script, { description })
    const row = `[data-task="${id}"]`
    await page.locator(row).getByText('asks you').waitFor()
    await page.locator(row).getByText('1 running / 1').waitFor()
    const title = await boxOf(page, `${row} a[href$="/tasks/${id}"]`)
    const pill = await boxOf(page, `${row} :text("asks you")`)
    expect(title.right - title.left).toBeGreaterThanOrEqual(90)
    expect(title.right).toBeLessThanOrEqual(pill.left)
    const [cells, heads] = [await cellsOf(page, row), await cellsOf(page, '[role=row]:has([role=columnheader])')]
    const at = cells.findIndex(({ text }) => text.includes('asks you'))
    expect(heads[at]?.text).toBe('Task')
    expect(pill.right).toBeLessThanOrEqual(cells[at]?.right ?? 0)
    for (const line of [cells, heads]) {
      for (const [place, { left }] of line.entries()) {
        expect(left).toBeGreaterThanOrEqual(line[place - 1]?.right ?? 0)
      }
    }
    expect(cells.map(({ left }) => left)).toEqual(heads.map(({ left }) => left))
    const grid = page.getByRole('treegrid')
    expect(await grid.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  })

  it.each(['status=cancelled', 'thread=papers'])('shows on a phone which filter counts, with %s', async (filter) => {
    const { page } = await openConsole({ path: `/tasks?${filter}`, viewport: { width: 360, height: 800 } })
    await page.getByText('No task matches these filters').waitFor()
    const chip = page.getByRole('search').locator('[data-on]')
    const { x = 0, width = 0 } = (await chip.boundingBox()) ?? {}
    expect(width).toBeGreaterThan(0)
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(360)
  })
})
