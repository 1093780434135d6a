import { expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'
import { scrollUntil, watchSmoothness } from './harness/smoothness.ts'

withBrowser()

it('a log of 10,000 events has few lines in the page, from its first to its last', async ({ annotate }) => {
  const { page, run, goto, server } = await openConsole()
  const emits = Array.from({ length: 10 }, (_, part) => ({ emit: `part-${part}`, times: 999 }))
  const id = await run('t', emits)
  await server.request('GET', `/v1/threads/t/events?task=${id}`, { headers: { accept: 'application/x-ndjson' } })
  await goto(`/tasks/${id}?tab=events`)
  const log = page.getByRole('log')
  await page.getByText(/^9,9\d\d events$|^10,000 events$/).waitFor()
  const smoothness = await watchSmoothness(page)
  await log.hover()
  await scrollUntil(page, () => log.getByText('task.completed').isVisible(), 4000)
  // How long the page was busy at a time, and its memory, are recorded with the test.
  await annotate(JSON.stringify(await smoothness()))
  expect(await log.locator('[data-seq]').count()).toBeLessThan(120)
})

it('200 events a second are shown as they come, with few lines in the page', async ({ annotate }) => {
  const { page, run, goto } = await openConsole()
  const id = await run('t', [{ emit: 'tick', times: 1000, everyMs: 5 }, { return: 'done' }])
  await goto(`/tasks/${id}?tab=events`)
  await page.getByRole('log').waitFor()
  const smoothness = await watchSmoothness(page)
  await page.getByRole('log').getByText('task.completed').waitFor()
  expect(await page.getByRole('log').locator('[data-seq]').count()).toBeLessThan(120)
  await annotate(JSON.stringify(await smoothness()))
})
