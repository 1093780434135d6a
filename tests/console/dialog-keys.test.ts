import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

async function open(thread: string, path: (task: string) => string) {
  const here = await openConsoleOf(server())
  const task = await here.run(thread, [{ say: 'at work' }, { receive: {} }, { hang: true }])
  await here.goto(path(task))
  await here.page.locator('[data-status=running]').first().waitFor()
  return here
}

describe('with keys alone', () => {
  it('a view is found in the palette, and gone to', async () => {
    const { page } = await open('palette', (task) => `/tasks/${task}`)
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Commands' })
    await palette.getByRole('option').first().waitFor()
    await page.keyboard.type('agents')
    expect(await palette.getByRole('combobox').inputValue()).toBe('agents')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/agents')
  })

  it('a message with spaces is written and sent to a task', async () => {
    const { page } = await open('message', (task) => `/tasks/${task}`)
    await page.keyboard.press('m')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('look at page 4')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'Inbox' }).getByText('look at page 4', { exact: true }).waitFor()
  })

  it.each([
    ['task', (task: string) => `/tasks/${task}`],
    ['thread', () => '/threads/thread'],
  ] as const)('a %s is cancelled with a reason that has spaces', async (thread, path) => {
    const { page } = await open(thread, path)
    await page.keyboard.press('c')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('not needed any more')
    await page.keyboard.press('Enter')
    await page.locator('[data-status=cancelled]').first().waitFor()
    const { body } = await server().request<{ events: { data: object }[] }>(
      'GET',
      `/v1/threads/${thread}/events?types=task.cancelling`,
    )
    expect(body.events[0]?.data).toMatchObject({ reason: 'not needed any more' })
  })
})
