import { expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'
import { scrollUntil, watchSmoothness } from './harness/smoothness.ts'

withBrowser()

const taskCount = 5000

it('a list of 5,000 tasks has few rows in the page, from its first to its last', async ({ annotate }) => {
  const { page, server, goto } = await openConsole()
  const body = { agent: 'script', input: { script: [{ return: 1 }] } }
  for (let begun = 0; begun < taskCount; begun += 50) {
    const posts = Array.from({ length: 50 }, () => server.request('POST', `/v1/threads/t${begun}/tasks`, { body }))
    await Promise.all(posts)
  }
  await goto('/tasks')
  const grid = page.getByRole('treegrid')
  await page.locator('[data-task]').first().waitFor()
  const smoothness = await watchSmoothness(page)
  await grid.hover()
  await scrollUntil(page, () => page.locator('[data-task="bg_0"]').isVisible(), 2000)
  expect(await grid.getAttribute('aria-rowcount')).toBe(String(taskCount + 1))
  // How long the page was busy at a time, and its memory, are recorded with the test.
  await annotate(JSON.stringify(await smoothness()))
  expect(await page.locator('[data-task]').count()).toBeLessThan(60)
}, 300_000)
