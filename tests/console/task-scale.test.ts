import { expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'
import { scrollUntil, watchSmoothness } from './harness/smoothness.ts'

withBrowser()

// A person notices a pause from about here on; a machine that is busy with other tests takes a few times as long.
const longestTaskMsMax = 500

it('a log of 10,000 events stays responsive from its first line to its last', async ({ annotate }) => {
  const { page, run, goto, server } = await openConsole()
  const emits = Array.from({ length: 10 }, (_, part) => ({ emit: `part-${part}`, times: 999 }))
  const id = await run('t', emits)
  await server.request('GET', `/v1/threads/t/events?task=${id}`, { headers: { accept: 'application/x-ndjson' } })
  await goto(`/tasks/${id}?tab=events`)
  const log = page.getByRole('log')
  await page.getByText(/^99\d\d events$|^10000 events$/).waitFor()
  const smoothness = await watchSmoothness(page)
  await log.hover()
  await scrollUntil(page, () => log.getByText('task.completed').isVisible(), 4000)
  const figures = await smoothness()
  await annotate(JSON.stringify(figures))
  expect(await log.locator('[data-seq]').count()).toBeLessThan(120)
  expect(figures.longestTaskMs).toBeLessThan(longestTaskMsMax)
})

it('200 events a second are shown as they come, and leave the page responsive', async ({ annotate }) => {
  const { page, run, goto } = await openConsole()
  const id = await run('t', [{ emit: 'tick', times: 1000, everyMs: 5 }, { return: 'done' }])
  await goto(`/tasks/${id}?tab=events`)
  await page.getByRole('log').waitFor()
  const smoothness = await watchSmoothness(page)
  await page.getByRole('log').getByText('task.completed').waitFor()
  const figures = await smoothness()
  await annotate(JSON.stringify(figures))
  expect(figures.longestTaskMs).toBeLessThan(longestTaskMsMax)
})
