import { expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

it.each([1024, 1440])('what a task has spawned is named in the widest column, at a width of %d', async (width) => {
  const { page, run, goto, server } = await openConsole({ viewport: { width, height: 800 } })
  const description = 'Read the reports of the last four quarters'
  const id = await run('t', [{ hang: true }])
  const child = { agent: 'script', input: { script: [{ return: 1 }] }, parent: id, description }
  await server.request('POST', '/v1/threads/t/tasks', { body: child })
  await goto(`/tasks/${id}`)
  const link = page.getByRole('region', { name: 'Children' }).getByRole('link')
  await link.locator('[data-status=completed]').waitFor()
  const name = link.getByText(description)
  expect(await name.evaluate((text) => text.scrollHeight <= text.clientHeight)).toBe(true)
  const cells = await link.evaluate(({ children }) =>
    [...children].map((cell) => {
      const { left, right, top, bottom } = cell.getBoundingClientRect()
      return { left, right, middle: Math.round((top + bottom) / 2) }
    }),
  )
  expect(new Set(cells.map(({ middle }) => middle)).size).toBe(1)
  for (const [place, { left }] of cells.entries()) expect(left).toBeGreaterThanOrEqual(cells[place - 1]?.right ?? 0)
})
