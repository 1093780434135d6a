import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

const problem = {
  type: 'urn:holdfast:error:internal_error',
  title: 'Something went wrong in the server',
  status: 500,
  code: 'internal_error',
  requestId: 'request-of-the-test',
}

const lists = [
  { path: '/threads', route: /\/v1\/threads\?/, shown: 'There are no threads yet' },
  { path: '/agents', route: /\/v1\/agents$/, shown: 'A simulated research run' },
  { path: '/system', route: /\/metrics$/, shown: 'queuedRunsPerThread' },
]

const refuse = (route: Route) =>
  route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(problem) })

/** Bob has no threads, and the page has not begun. */
async function asBob(): Promise<{ page: Page; goto: (path: string) => Promise<void> }> {
  return openConsoleOf(server(), { as: 'bob', allowed: [...refusals, /net::/] })
}

describe('a view', () => {
  it.each(lists)('$path says what went wrong, names the request, and tries again', async ({ path, route, shown }) => {
    const { page, goto } = await asBob()
    await page.route(route, refuse)
    await goto(path)
    const alert = page.getByRole('alert')
    await alert.getByText('Something went wrong in the server').waitFor()
    await alert.getByText('Request request-of-the-test').waitFor()
    await page.unroute(route)
    // Some views try again by themselves, maybe before the button is reached.
    const there = page.getByText(shown).first().waitFor()
    await Promise.any([there, alert.getByRole('button', { name: 'Try again' }).click()])
    await there
  })

  it.each(lists)('$path shows after a moment that it loads', async ({ path, route, shown }) => {
    const { page, goto } = await asBob()
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
    await page.route(route, async (asked) => {
      await isAnswered
      await asked.continue()
    })
    await goto(path)
    await page.getByRole('status', { name: 'Loading' }).waitFor()
    answer()
    await page.getByText(shown).first().waitFor()
    expect(await page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
  })
})

describe('a thread', () => {
  it('whose name can be none is none, and cannot be written to', async () => {
    const { page, goto } = await asBob()
    await goto('/threads/no%20such%20name')
    await page.getByText('There is no such thread').waitFor()
    expect(await page.getByRole('textbox', { name: 'Prompt' }).count()).toBe(0)
  })

  it('that never had anything said is empty, and says what to do', async () => {
    const { page, goto } = await asBob()
    await goto('/threads')
    await page.getByRole('button', { name: 'New thread' }).click()
    await page.waitForURL(/\/threads\/t-\w+$/)
    await page.getByText('Write below.').waitFor()
    // Whoever asked for it begins to write; the keys of the console would take the first letters else.
    await page.getByRole('textbox', { name: 'Prompt' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('jump')
    expect(await page.getByRole('textbox', { name: 'Prompt' }).inputValue()).toBe('jump')
    await page.keyboard.press('Escape')
    await page.keyboard.press('u')
    await page.waitForURL('**/threads')
  })

  it('that is new can be written to at once also by keys alone', async () => {
    const { page, goto } = await asBob()
    await goto('/threads')
    await page.getByText('There are no threads yet').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Find a command').fill('New thread')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/threads\/t-\w+$/)
    await page.getByRole('textbox', { name: 'Prompt' }).and(page.locator(':focus')).waitFor()
  })

  it('that cannot be reached says so where it would be, and is there when it can', async () => {
    const { page, goto } = await asBob()
    await page.route(/\/v1\/threads\/away$/, (route) => route.abort())
    await goto('/threads/away')
    await page.getByText('The server does not answer').waitFor()
    await page.unroute(/\/v1\/threads\/away$/)
    await page.getByText('Nothing was said here yet').waitFor()
  })

  it('that refuses a prompt keeps it, and says why and by which request', async () => {
    const { page, goto } = await asBob()
    await page.route(/\/v1\/threads\/refused\/runs$/, refuse)
    await goto('/threads/refused')
    await page.getByText('Nothing was said here yet').waitFor()
    const input = page.getByRole('textbox', { name: 'Prompt' })
    await input.fill('keep me')
    await input.press('Enter')
    await page.getByRole('alert').getByText('request-of-the-test').waitFor()
    expect(await input.inputValue()).toBe('keep me')
  })
})
