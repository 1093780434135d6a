import { it } from 'vitest'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

it('a list of which only part is read keeps nobody out, and counts all that runs', async () => {
  const { page, run, goto } = await openConsoleOf(server())
  for (let count = 0; count < 3; count += 1) await run(`runs${count}`, [{ hang: true }])
  for (let count = 0; count < 105; count += 1) await run(`t${count}`, [{ say: 'x' }])
  await goto('/tasks')
  await page.getByText('3 running').waitFor()
  await page.getByText('100+ tasks').waitFor()
  await page.getByRole('button', { name: 'Load older tasks' }).waitFor({ state: 'attached' })
  await expectAccessible(page)
})

it('a thread whose run is older than a hundred others is told by it, and one that has none by its tasks', async () => {
  const { page, run, goto } = await openConsoleOf(server())
  await run('long-ago', [{ hang: true }], { description: 'Watch the tide' })
  const body = { agent: 'script', input: { script: [{ return: 1 }] }, description: 'Count the fish' }
  for (let count = 0; count < 105; count += 1) await run('busy', [{ return: 1 }])
  await server().request('POST', '/v1/threads/no-runs/tasks', { body })
  await goto('/threads')
  const row = (thread: string) => page.locator(`[data-thread=${thread}]`)
  await row('no-runs').getByText('Count the fish').waitFor()
  await row('long-ago').getByText('Watch the tide').waitFor()
  await row('long-ago').getByText('1 running').waitFor()
})
