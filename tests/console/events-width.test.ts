import { describe, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

describe('the log of a task', () => {
  it.each([360, 1440])('says how many events it does not show, at a width of %d', async (width) => {
    const { page, run, goto } = await openConsole({ viewport: { width, height: 800 } })
    const id = await run('t', [{ emit: 'tick', times: 11_000 }])
    await goto(`/tasks/${id}`)
    await page.locator('[data-status=completed]').first().waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    // Beside those that it emits it is accepted, started, asked and completed.
    await page.getByText('10,000 events, 1,004 older not shown').waitFor()
  })
})
