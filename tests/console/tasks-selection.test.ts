import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsole } from './harness/console.ts'

withBrowser()

const row = (page: Page, id: string) => page.locator(`[data-task="${id}"]`)
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('role'))

describe('the selection', () => {
  it('takes all rows of the list at once, and counts only what is in it', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const ended = await run('a', [{ return: 1 }], { description: 'Count the fish' })
    const live = await run('b', [{ hang: true }], { description: 'Watch the tide' })
    await row(page, ended).locator('[data-status=completed]').waitFor()
    await row(page, live).locator('[data-status=running]').waitFor()
    const all = page.getByRole('checkbox', { name: 'Select all tasks in the list' })
    await all.click()
    const bar = page.getByRole('toolbar', { name: 'Selected tasks' })
    await bar.getByText('2 selected').waitFor()
    await page.getByLabel('Filter by text or id').fill('fish')
    await bar.getByText('1 selected').waitFor()
    await bar.getByRole('button', { name: 'Nothing selected is running' }).and(page.locator(':disabled')).waitFor()
    await page.getByLabel('Filter by text or id').fill('')
    await bar.getByRole('button', { name: 'Cancel 1 running' }).waitFor()
    await row(page, live).getByRole('checkbox').click()
    expect(await all.evaluate((box: HTMLInputElement) => box.indeterminate)).toBe(true)
    await all.click()
    await bar.getByText('2 selected').waitFor()
    await all.click()
    await bar.waitFor({ state: 'detached' })
  })

  it('leaves the focus in the list when it was cancelled or cleared', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const ids = [await run('a', [{ hang: true }]), await run('b', [{ hang: true }])]
    for (const id of ids) await row(page, id).locator('[data-status=running]').waitFor()
    const all = page.getByRole('checkbox', { name: 'Select all tasks in the list' })
    await all.click()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expect.poll(() => focused(page)).toBe('treegrid')
    await all.click()
    await page.getByRole('button', { name: 'Cancel 2 running' }).click()
    await page.getByRole('button', { name: 'Cancel 2 trees' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(() => focused(page)).toBe('treegrid')
  })
})

it('who leaves the filter is in the list', async () => {
  const { page, run } = await openConsole({ path: '/tasks' })
  const id = await run('a', [{ return: 1 }])
  await row(page, id).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('treegrid')
  await page.keyboard.press('ArrowDown')
  await page.locator(`[data-task="${id}"]:focus`).waitFor()
})

describe('who goes back to the list', () => {
  it.each(['Back', 'u', 'the breadcrumb'])('finds it as it was, by %s', async (way) => {
    const { page, run, goto } = await openConsole()
    for (let count = 0; count < 40; count += 1) await run(`t${count}`, [{ fail: 'no' }])
    await goto('/tasks?status=failed')
    await row(page, 'bg_39').waitFor()
    const grid = page.getByRole('treegrid')
    await grid.hover()
    await page.mouse.wheel(0, 600)
    await row(page, 'bg_20').getByRole('link', { name: 'script' }).click()
    await page.waitForURL('**/tasks/bg_20')
    await page.locator('header [data-status=failed]').waitFor()
    if (way === 'Back') await page.goBack()
    else if (way === 'u') await page.keyboard.press('u')
    else await page.getByRole('navigation', { name: 'Where it comes from' }).getByRole('link').first().click()
    await page.waitForURL('**/tasks?status=failed')
    await row(page, 'bg_20').waitFor()
    await expect.poll(() => grid.evaluate(({ scrollTop }) => scrollTop)).toBe(600)
    await page.keyboard.press('j')
    await page.locator('[data-task="bg_19"]:focus').waitFor()
  })

  it('by the rail begins at its top, with all of it', async () => {
    const { page, run, goto } = await openConsole()
    for (let count = 0; count < 40; count += 1) await run(`t${count}`, [{ return: 1 }])
    await goto('/tasks')
    const grid = page.getByRole('treegrid')
    await grid.hover()
    await page.mouse.wheel(0, 600)
    await row(page, 'bg_20').getByRole('link', { name: 'script' }).click()
    await page.waitForURL('**/tasks/bg_20')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' }).click()
    await row(page, 'bg_39').waitFor()
    expect(await grid.evaluate(({ scrollTop }) => scrollTop)).toBe(0)
  })
})
