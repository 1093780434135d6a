import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf, phone } from './harness/console.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()
const row = (page: Page, id: string) => page.locator(`[data-task="${id}"]`)

describe('a row of the list of tasks', () => {
  it('opens its task wherever it is clicked, but for what does something else', async () => {
    const { page, run, goto } = await openConsoleOf(server())
    const id = await run('anywhere', [{ spawn: { script: [{ return: 1 }] } }, { return: 1 }])
    await goto('/tasks')
    await row(page, id).locator('[data-status=completed]').waitFor()
    await row(page, id).getByRole('checkbox').click()
    await page.getByText('1 selected').waitFor()
    await row(page, id)
      .getByRole('button', { name: /^Unfold/ })
      .click()
    await row(page, id).and(page.locator('[aria-expanded=true]')).waitFor()
    await row(page, id).getByRole('link', { name: 'anywhere' }).click()
    await page.waitForURL('**/console/threads/anywhere')
    await page.goBack()
    const { width = 0, height = 0 } = (await row(page, id).boundingBox()) ?? {}
    await page.mouse.move(0, 0)
    await row(page, id).click({ position: { x: width * 0.6, y: height - 4 } })
    await page.waitForURL(`**/console/tasks/${id}`)
  })

  it('opens by a tap, and tells on a phone too what happened last', async () => {
    const { page, run, goto } = await openConsoleOf(server(), { viewport: phone, isTouched: true })
    const id = await run('tapped', [{ fail: 'the net is torn' }], { description: 'Mend the net' })
    await goto('/tasks')
    await row(page, id).getByText('the net is torn').filter({ visible: true }).waitFor()
    const { width = 0, height = 0 } = (await row(page, id).boundingBox()) ?? {}
    const inner = await row(page, id).evaluate((element) => element.scrollHeight)
    expect(inner).toBeLessThanOrEqual(height)
    await row(page, id).tap({ position: { x: width - 10, y: height - 10 } })
    await page.waitForURL(`**/console/tasks/${id}`)
  })
})

it.each(['tasks', 'threads'])('who has nothing yet is told how to begin with this server, at %s', async (view) => {
  const { page, context } = await openConsoleOf(server(), { as: 'bob', path: `/${view}` })
  await page.getByRole('button', { name: 'Copy the command' }).click()
  await page.getByText('Copied: command').waitFor()
  const command = await page.evaluate(() => navigator.clipboard.readText())
  expect(command).toMatch(new RegExp(`^holdfast --url ${server().url} run [a-z]+ "hello" --`))
  const name = / run ([a-z]+) /.exec(command)?.[1]
  const { agents } = (await (await context.request.get(`${server().url}/v1/agents`)).json()) as {
    agents: { name: string; inputSchema?: object }[]
  }
  expect(agents.find((agent) => agent.name === name)).toMatchObject({ name })
})
