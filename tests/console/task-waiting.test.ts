import { describe, expect, it } from 'vitest'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

describe('a task', () => {
  it('that does not move says what it waits for', async () => {
    const { page, run, goto, server } = await openConsole()
    const asking = await run('t', [{ ask: { text: 'Deploy?', options: ['Yes'] } }])
    const queued = await run('t', [{ say: 'x' }], { onBusy: 'queue' })
    const last = await run('t', [{ say: 'x' }], { onBusy: 'queue' })
    const why = page.locator('[data-waiting]')
    await goto(`/tasks/${last}`)
    await why.filter({ hasText: /^queued behind bg_\d+, which has run for .+; number 2 in the queue$/ }).waitFor()
    await server.request('POST', `/v1/tasks/${queued}/cancel`)
    await why.filter({ hasText: 'first in the queue' }).waitFor()
    await expectAccessible(page)
    await why.getByRole('link', { name: asking }).click()
    await why.filter({ hasText: /^waits for an answer to its question, for \d+ s$/ }).waitFor()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.locator('header [data-status=completed]').waitFor()
    expect(await why.count()).toBe(0)
  })
})
