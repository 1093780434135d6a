import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { localServer } from '../server/harness/local-server.ts'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { localConsole } from './harness/local-console.ts'
import { refusals } from './harness/problems.ts'

withBrowser()

const views = [
  { name: 'Tasks', shown: 'Nothing has been run yet' },
  { name: 'Threads', shown: 'There are no threads yet' },
  { name: 'Agents', shown: 'Runs the program in its input' },
  { name: 'System', shown: 'queuedRunsPerThread' },
]

/** At a place that shows nothing of the server, so that no view has anything to show once it is gone. */
async function atNothing() {
  const { server } = await localServer()
  const page = await localConsole(server, { path: '/nowhere', allowed: refusals })
  await page.locator('[data-connection=live]').first().waitFor()
  return { page, server }
}

async function follow(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
}

describe('a view that is opened while the server is gone', () => {
  it.each(views)('is there, says so, and goes on when it is back: $name', async ({ name, shown }) => {
    const { page, server } = await atNothing()
    await server.close()
    await page.locator('[data-connection=reconnecting]').first().waitFor()
    await follow(page, name)
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await page.getByRole('heading', { name: 'The server does not answer' }).waitFor()
    const text = await page.getByRole('main').innerText()
    expect(text).not.toMatch(/broke|Failed to fetch|\d+ tasks/)
    await expectAccessible(page)
    await localServer({ port: server.port })
    await page.getByText(shown).waitFor()
  })

  it.each(views)('says that it is the browser which is offline, if it is: $name', async ({ name, shown }) => {
    const { page } = await atNothing()
    await page.context().setOffline(true)
    await page.locator('[data-connection=offline]').first().waitFor()
    await follow(page, name)
    await page.getByRole('heading', { name: 'You are offline' }).waitFor()
    await page.context().setOffline(false)
    await page.getByText(shown).waitFor()
  })

  it('is there for a task too', async () => {
    const { page, server } = await atNothing()
    await server.close()
    await page.locator('[data-connection=reconnecting]').first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Find a command').fill('bg_7')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByRole('heading', { name: 'The server does not answer' }).waitFor()
    await localServer({ port: server.port })
    await page.getByRole('heading', { name: 'There is no such task' }).waitFor()
  })
})
