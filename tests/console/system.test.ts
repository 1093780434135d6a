import { describe, expect, it, onTestFinished } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf, phone } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer({ store: 'sqlite' })

describe('the system', () => {
  it('tells what the server is, how it is, and what it allows', async () => {
    const { page } = await openConsoleOf(server(), { path: '/system' })
    await page.locator('[data-ready=true]').getByText('Ready').waitFor()
    const readiness = page.getByRole('region', { name: 'Readiness' })
    await readiness.getByText(packageFile.version).waitFor()
    await readiness.getByText('sqlite').waitFor()
    await readiness.getByText(/^node_/).waitFor()
    await page.locator('[data-fact="Queue depth"]').getByText('0', { exact: true }).waitFor()
    await page.locator('[data-fact="Failed commits"]').getByText('0', { exact: true }).waitFor()
    await page.getByText('queuedRunsPerThread').waitFor()
    await page.getByText('liveInputBytesPerThread33.6 MB').waitFor()
    await page.getByText('executingTasksPerAgentnone').waitFor()
    const links = page.getByRole('navigation', { name: 'For programs' }).getByRole('link')
    const urls = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href')))
    for (const url of urls) expect((await page.request.get(url ?? '')).status()).toBe(200)
    expect(urls).toHaveLength(3)
  })

  it('reads again by itself: what has changed is shown', async () => {
    const here = await openConsoleOf(server(), { path: '/system' })
    await here.page.locator('[data-fact="Queue depth"]').getByText('0', { exact: true }).waitFor()
    const active = await here.run('system', [{ hang: true }])
    await server().request('POST', '/v1/threads/system/runs', { body: { agent: 'echo', prompt: 'waits' } })
    onTestFinished(async () => {
      await server().request('POST', `/v1/threads/system/cancel`, { body: {} })
    })
    await here.page.locator('[data-fact="Queue depth"]').getByText('1', { exact: true }).waitFor()
    expect(active).toMatch(/^bg_/)
  })

  it('waits for a second reading to tell how much is written per second', async () => {
    const { page, goto } = await openConsoleOf(server())
    const later = Promise.withResolvers<void>()
    let asked = 0
    await page.route('**/metrics', async (route) => {
      asked += 1
      if (asked > 1) await later.promise
      await route.continue()
    })
    await goto('/system')
    const rate = page.locator('[data-fact="Events per second"]')
    await rate.getByText('…', { exact: true }).waitFor()
    later.resolve()
    await rate.getByText(/^\d/).waitFor()
  })

  it('says as of when its figures are when the server does not answer', async () => {
    const { page, context } = await openConsoleOf(server(), { path: '/system', allowed: [...refusals, /net::/] })
    await page.locator('[data-ready=true]').waitFor()
    await context.setOffline(true)
    await page.getByText(/These figures are as of/).waitFor()
    await page.getByRole('region', { name: 'Readiness' }).getByText('No answer').waitFor()
    expect(await page.getByText('Ready', { exact: true }).count()).toBe(0)
    await context.setOffline(false)
    await page.getByText(/These figures are as of/).waitFor({ state: 'hidden' })
  })

  it.each([
    ['light', undefined],
    ['dark', phone],
  ] as const)('keeps nobody out, in the %s theme', async (theme, viewport) => {
    const { page } = await openConsoleOf(server(), { path: '/system', theme, ...(viewport && { viewport }) })
    await page.locator('[data-ready=true]').waitFor()
    await expectAccessible(page)
  })
})
