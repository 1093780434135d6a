import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf, phone } from './harness/console.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()
const palette = (page: Page) => page.getByRole('dialog', { name: 'Commands' })

/** The prompt of an empty thread has the focus, and takes the keys until it is left. */
async function leavePrompt(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Prompt' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
}

describe('the palette', () => {
  it('goes to a view, a task and a thread by a few letters', async () => {
    const here = await openConsoleOf(server())
    const task = await here.run('palette-thread', [{ return: 1 }])
    await here.goto('/tasks')
    const { page } = here
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    const find = async (text: string) => {
      await page.keyboard.press('Control+k')
      const input = palette(page).getByRole('combobox')
      await input.fill(text)
      await palette(page).getByRole('option').first().waitFor()
      await input.press('Enter')
      await palette(page).waitFor({ state: 'hidden' })
    }
    await find('agents')
    await page.waitForURL('**/console/agents')
    await find(task)
    await page.waitForURL(`**/console/tasks/${task}`)
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option', { name: 'palette-thread' }).first().click()
    await page.waitForURL('**/console/threads/palette-thread')
    await find('never-used')
    await page.waitForURL('**/console/threads/never-used')
    await find('show the keys')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  })

  it('finds agents, and offers no steps in a list to who has typed nothing', async () => {
    const { page } = await openConsoleOf(server(), { path: '/tasks' })
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option', { name: 'Filter' }).waitFor()
    expect(await palette(page).getByRole('option', { name: 'Next task' }).count()).toBe(0)
    await palette(page).getByRole('combobox').fill('next')
    await palette(page).getByRole('option', { name: 'Next task' }).waitFor()
    await palette(page).getByRole('combobox').fill('echo')
    await palette(page).getByRole('option', { name: 'echo', exact: true }).click()
    await page.waitForURL('**/console/agents/echo')
  })

  it('does what the view on the screen can do', async () => {
    const here = await openConsoleOf(server())
    const task = await here.run('palette-stop', [{ hang: true }])
    await here.goto('/threads/palette-stop')
    const { page } = here
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('combobox').fill('cancel')
    await palette(page).getByRole('option', { name: 'Stop the run' }).click()
    await page.getByRole('button', { name: 'Cancel this tree' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
    expect((await server().request<{ status: string }>('GET', `/v1/tasks/${task}`)).body.status).toBe('cancelled')
  })

  it('puts what is named so before what is only found by another word', async () => {
    const here = await openConsoleOf(server())
    await here.run('palette-order', [{ hang: true }])
    await here.goto('/threads/palette-order')
    const { page } = here
    // With it there is a command that has `t`, `a` and `s` in its group and its name.
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('combobox').fill('tas')
    await palette(page).getByRole('option', { name: 'Tasks' }).waitFor()
    expect(await palette(page).getByRole('option').first().textContent()).toContain('Tasks')
  })

  it('gives way to the keys, however soon they are asked for', async () => {
    const { page } = await openConsoleOf(server(), { path: '/threads/keys' })
    await page.getByText('Nothing was said here yet').waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option').first().waitFor()
    // The platform tells that a dialog was closed a moment after it has closed it.
    await palette(page).evaluate((dialog: HTMLDialogElement) => {
      const told = new Promise((resolve) => dialog.addEventListener('close', resolve))
      dialog.close()
      document.dispatchEvent(new KeyboardEvent('keydown', { key: '?' }))
      return told.then(() => new Promise(requestAnimationFrame))
    })
    expect(await page.getByRole('dialog', { name: 'Keys' }).isVisible()).toBe(true)
  })

  it('takes no key once it is closed, though it has the focus for a moment', async () => {
    const { page } = await openConsoleOf(server(), { path: '/threads/focus' })
    await leavePrompt(page)
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option').first().waitFor()
    await palette(page).evaluate((dialog: HTMLDialogElement) => {
      const input = dialog.querySelector('input')
      dialog.close()
      input?.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }))
    })
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ timeout: 5000 })
  })

  it('stays open, however soon it is opened again', async () => {
    const { page } = await openConsoleOf(server(), { path: '/threads/again' })
    await page.getByText('Nothing was said here yet').waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option').first().waitFor()
    await palette(page).evaluate(async (dialog: HTMLDialogElement) => {
      const told = new Promise((resolve) => dialog.addEventListener('close', resolve))
      dialog.close()
      dialog.showModal()
      await told
      await new Promise(requestAnimationFrame)
    })
    expect(await palette(page).getByRole('option').first().isVisible()).toBe(true)
  })

  it('sets the theme, which stays', async () => {
    const { page } = await openConsoleOf(server(), { path: '/threads' })
    await page.getByRole('heading', { name: 'Threads' }).waitFor()
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('combobox').fill('dark')
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme=dark]').waitFor()
    await page.reload()
    await page.locator('html[data-theme=dark]').waitFor()
  })

  it.each(['light', 'dark'] as const)('keeps nobody out, in the %s theme', async (theme) => {
    const { page } = await openConsoleOf(server(), { path: '/threads/a', theme, viewport: phone })
    await leavePrompt(page)
    await page.keyboard.press('Control+k')
    await palette(page).getByRole('option').first().waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await palette(page).waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await expectAccessible(page)
  })
})

describe('keys', () => {
  it('are listed by ?, those of the view with those of the shell', async () => {
    const { page } = await openConsoleOf(server(), { path: '/threads/keys' })
    await leavePrompt(page)
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.getByText('Write a message').waitFor()
    await dialog.getByText('Find a command').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  it('are enough to find a thread, write to it and stop it', async () => {
    const here = await openConsoleOf(server())
    await here.run('by-keys', [{ say: 'at work' }, { hang: true }])
    await here.goto('/tasks')
    const { page } = here
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.locator('[data-thread=by-keys]').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/threads/by-keys')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.keyboard.press('m')
    await page.keyboard.type('queued by keys')
    await page.keyboard.press('Control+Enter')
    await page.locator('[data-queued]').getByText('queued by keys').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('c')
    await page.getByRole('dialog').getByRole('textbox').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('[data-ending=Cancelled]').first().waitFor()
  })
})
