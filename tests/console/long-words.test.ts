import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

const narrow = { width: 360, height: 800 } as const
const longWord = 'w'.repeat(200)

/** How far something inside an element reaches over its right edge. */
function beyond(element: Locator): Promise<number> {
  return element.evaluate((outer) => {
    const { right } = outer.getBoundingClientRect()
    const rights = [...outer.querySelectorAll('*')].map((inner) => inner.getBoundingClientRect().right)
    return Math.max(0, ...rights.map((at) => at - right))
  })
}

/** Whether all of the text of an element is in sight, and nothing of it cut. */
function isWhole(element: Locator): Promise<boolean> {
  return element.evaluate((button) =>
    [button, ...button.querySelectorAll('*')].every(
      ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
        scrollWidth <= clientWidth && scrollHeight <= clientHeight,
    ),
  )
}

describe('a question', () => {
  it('stays in its card, however long a word in it is', async () => {
    const { page, run, goto } = await openConsole({ viewport: narrow })
    await run('t', [{ ask: { text: `Is ${longWord} right?`, timeoutMs: 600_000, default: longWord } }])
    await goto('/threads/t')
    const card = page.locator('[data-question]')
    await card.getByText('Otherwise it is answered').waitFor()
    expect(await beyond(card)).toBe(0)
    expect(await isWhole(card.locator('p'))).toBe(true)
  })

  it.each([360, 1440])('shows each of its options whole, at a width of %d', async (width) => {
    const { page, run, goto } = await openConsole({ viewport: { width, height: 800 } })
    const sentence = 'Delete what was made in the last month, and keep what was made before that and by hand. '
    await run('t', [{ ask: { text: 'Which?', options: [sentence.repeat(2).trim(), longWord, 'Neither'] } }])
    await goto('/threads/t')
    const options = page.locator('[data-question] [role=group] button')
    await options.getByText('Neither').waitFor()
    expect(await Promise.all((await options.all()).map(isWhole))).toEqual([true, true, true])
    expect(await beyond(page.locator('[data-question]'))).toBe(0)
  })
})

describe('a tool', () => {
  it('stays in its line with how it went, however long its name is', async () => {
    const { page, run, goto } = await openConsole({ viewport: narrow })
    await run('t', [{ tool: longWord, input: { path: '/etc' }, output: 1 }])
    await goto('/threads/t')
    const tool = page.locator('[data-tool]')
    await tool.getByText('done').waitFor()
    expect(await beyond(tool)).toBe(0)
    await tool.locator('summary').click()
    await tool.getByText('Output').waitFor()
    expect(await isWhole(tool.getByText(longWord))).toBe(true)
  })
})

describe('a task', () => {
  it('of a thread with a long name keeps to the width of the page', async () => {
    const { page, run, goto } = await openConsole({ viewport: narrow })
    const id = await run('n'.repeat(120), [{ say: 'hi' }])
    await goto(`/tasks/${id}`)
    await page.getByText('completed').waitFor()
    expect(await beyond(page.locator('header').filter({ has: page.getByRole('heading', { level: 1 }) }))).toBe(0)
  })
})
