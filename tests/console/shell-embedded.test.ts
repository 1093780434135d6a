import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { expect, it, onTestFinished } from 'vitest'
import { createHandler, createRuntime, scriptAgent } from '../../src/index.ts'
import { freshContext, withBrowser } from './harness/browser.ts'
import { refusals, refuseProblems } from './harness/problems.ts'

withBrowser()

it('the console of a handler, which has no WebSocket, is live by SSE and let in by the login around it', async () => {
  const runtime = createRuntime({ store: 'memory:', agents: { script: scriptAgent() } })
  const handle = createHandler(runtime, { basePath: '/tools', authenticate: () => 'ann' })
  const listener = getRequestListener(handle)
  const http = createServer((request, response) => void listener(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(async () => {
    await runtime.close({ drainMs: 0 })
    http.closeAllConnections()
    http.close()
  })
  const context = await freshContext()
  const page = await context.newPage()
  await refuseProblems(page, refusals)
  await page.goto(`http://127.0.0.1:${(http.address() as AddressInfo).port}/tools/console`)
  await page.getByText('Nothing has been run yet').waitFor()
  const script = [{ say: 'Hello ' }, { receive: {} }, { say: 'there' }]
  const { id } = await runtime.as('ann').run({ thread: 't', agent: 'script', input: { script } })
  const row = page.locator(`[data-task="${id}"]`)
  await row.locator('[data-status=running]').waitFor()
  await row.getByRole('link', { name: 'script' }).click()
  await page.locator('header [data-status=running]').waitFor()
  // A log of its own for this would be one of the six connections that the browser has.
  expect(await page.getByRole('region', { name: 'Output so far' }).count()).toBe(0)
  await runtime.as('ann').send(id, { content: 'go on' })
  await page.getByText('"said": "Hello there"').waitFor()
  expect(await page.locator('[data-connection=live]').count()).toBeGreaterThan(0)
})
