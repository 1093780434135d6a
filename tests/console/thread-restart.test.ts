import { describe, expect, it, onTestFinished } from 'vitest'
import { startRelay } from '../server/harness/relay.ts'
import { startServer } from '../server/harness/server.ts'
import { freshContext, withBrowser } from './harness/browser.ts'
import { refusals, refuseProblems } from './harness/problems.ts'

withBrowser()

/** A server on a disk, behind an address that stays the same when it is started again. */
async function onDisk() {
  const server = await startServer({ store: 'sqlite', env: { HOLDFAST_LEASE_MS: '1000' } })
  onTestFinished(() => server.end())
  const relay = await startRelay(() => server.url)
  const context = await freshContext()
  await context.request.post(`${relay.url}/v1/login`, { data: { token: server.tokens['alice'] } })
  const page = await context.newPage()
  await refuseProblems(page, [...refusals, /ERR_|net::/])
  return { server, page, goto: (path: string) => page.goto(`${relay.url}/console${path}`) }
}

describe('a server that is killed and started again', () => {
  it('is found again by the page, where the run goes on after its last step and nothing abandoned is left', async () => {
    const { server, page, goto } = await onDisk()
    const script = [
      { say: 'Before the plug was pulled. ' },
      { ask: { text: 'Go on?', options: ['yes'] } },
      { say: 'After it.' },
      { receive: {} },
    ]
    await server.request('POST', '/v1/threads/plug/runs', { body: { agent: 'script', input: { script } } })
    await goto('/threads/plug')
    const run = page.getByLabel('Run of script')
    await run.getByText('Before the plug was pulled.', { exact: true }).waitFor()
    await run.getByRole('button', { name: 'yes' }).waitFor()
    await server.kill9()
    await page
      .getByText(/^Reconnecting/)
      .first()
      .waitFor()
    await server.start()
    await page.locator('[data-connection=live]').first().waitFor()
    await run.getByText('went on after a restart').waitFor()
    await run.getByRole('button', { name: 'yes' }).click()
    await run.getByText('After it.', { exact: true }).waitFor()
    expect(await page.getByText('Before the plug was pulled.').count()).toBe(2)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
  })

  it('leaves nothing on the page of the step that was cut off, which is done again', async () => {
    const { server, page, goto } = await onDisk()
    const script = [{ say: 'Looking it up.' }, { tool: 'lookup', input: {}, ms: 600_000 }]
    await server.request('POST', '/v1/threads/cut/runs', { body: { agent: 'script', input: { script } } })
    await goto('/threads/cut')
    const run = page.getByLabel('Run of script')
    await run.locator('[data-tool=lookup]').getByText('running').waitFor()
    await server.restart()
    await run.getByText('went on after a restart').waitFor()
    await run.locator('[data-tool=lookup]').getByText('running').waitFor()
    expect(await run.locator('[data-tool=lookup]').count()).toBe(1)
    expect(await run.getByText('Looking it up.', { exact: true }).count()).toBe(1)
  })
})
