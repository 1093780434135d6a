import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/client/index.ts'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf, phone } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

// More than the page has without asking for more.
const snapshotCount = 100

/** Says something, goes on when it is told to, and says the rest. */
const halves = [{ say: 'The first half ' }, { receive: {} }, { say: 'and the second half.' }, { receive: {} }]

async function tell(task: string): Promise<void> {
  await server().request('POST', `/v1/tasks/${task}/messages`, { body: { content: 'go on' } })
}

async function taskOf(id: string): Promise<Task> {
  return (await server().request<Task>('GET', `/v1/tasks/${id}`)).body
}

async function messagesOf(thread: string): Promise<string[]> {
  type Body = { messages: { role: string; parts: { text?: string }[] }[] }
  const { body } = await server().request<Body>('GET', `/v1/threads/${thread}/messages`)
  return body.messages.flatMap(({ role, parts }) => (role === 'user' ? parts.map(({ text = '' }) => text) : []))
}

/** Prompts, by their numbers. All are answered when this resolves. */
async function prompt(thread: string, count: number): Promise<void> {
  let last = ''
  for (let at = 0; at < count; at += 1) {
    const body = { agent: 'echo', prompt: `prompt number ${at}` }
    last = (await server().request<Task>('POST', `/v1/threads/${thread}/runs`, { body })).body.id
  }
  await expect.poll(async () => (await taskOf(last)).status).toBe('completed')
}

const write = async (page: Page, text: string, button: string) => {
  await page.getByRole('textbox', { name: 'Prompt' }).fill(text)
  await page.getByRole('button', { name: button, exact: true }).click()
}

describe('the thread', () => {
  it('streams text in; after a reload in mid-sentence it is the same, and it goes on', async () => {
    const here = await openConsoleOf(server())
    const task = await here.run('reload', halves)
    await here.goto('/threads/reload')
    const { page } = here
    await page.getByText('The first half', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('The first half', { exact: true }).waitFor()
    await tell(task)
    await page.getByText('The first half and the second half.', { exact: true }).waitFor()
    await tell(task)
    await page.locator('[data-status=completed]').first().waitFor()
    expect(await page.getByText('The first half and the second half.').count()).toBe(1)
  })

  it('is the same in two tabs, whichever of them is written in', async () => {
    const here = await openConsoleOf(server(), { path: '/threads/tabs' })
    const other = await here.tab('/threads/tabs')
    await other.getByText('Nothing was said here yet').waitFor()
    await here.page.getByLabel('Agent').selectOption('echo')
    await write(here.page, 'said in the first', 'Send')
    await other.getByLabel('Prompt').getByText('said in the first').waitFor()
    await other.getByLabel('Run of echo').locator('[data-status=completed]').waitFor()
    await write(other, 'said in the second', 'Send')
    await here.page.getByLabel('Run of echo').nth(1).locator('[data-status=completed]').waitFor()
  })

  it('stops a run with its children, and marks what it had said as partial', async () => {
    const here = await openConsoleOf(server())
    const child = { script: [{ say: 'a child at work' }, { hang: true }] }
    const task = await here.run('stop', [{ say: 'so far' }, { spawn: child }, { spawn: child }, { hang: true }])
    await here.goto('/threads/stop')
    const { page } = here
    const children = page.getByRole('list', { name: 'Child tasks' }).getByRole('link')
    await children.nth(1).getByText('a child at work').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
    await children.nth(0).locator('[data-status=cancelled]').waitFor()
    await children.nth(1).locator('[data-status=cancelled]').waitFor()
    await page.getByText('so far', { exact: true }).waitFor()
    expect(await taskOf(task)).toMatchObject({ status: 'cancelled', partial: true })
  })

  it('shows what a run did in the order in which it did it, live and after a reload', async () => {
    const here = await openConsoleOf(server())
    const ask = { ask: { text: 'Which way?', options: ['left'] } }
    const spawn = { spawn: { name: 'helper', script: [{ return: 1 }], wait: true } }
    await here.run('order', [{ say: 'ONE.' }, ask, { say: 'TWO.' }, spawn, { say: 'THREE' }, { receive: {} }])
    await here.goto('/threads/order')
    const { page } = here
    const run = page.getByLabel('Run of script')
    await page.getByRole('button', { name: 'left' }).click()
    const inOrder = /ONE\.\s*Which way\?\s*left answered by alice\s*TWO\.\s*helper.*THREE/s
    await expect.poll(() => run.innerText()).toMatch(inOrder)
    await page.reload()
    await expect.poll(() => run.innerText()).toMatch(inOrder)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
    await page.reload()
    await expect.poll(() => run.innerText()).toMatch(inOrder)
  })

  it('calls a child by its name, and shows the newest words of what it says', async () => {
    const here = await openConsoleOf(server())
    const words = `${'many words came before '.repeat(20)}newest`
    await here.run('tail', [{ spawn: { name: 'reader', script: [{ say: words }, { hang: true }] } }, { hang: true }])
    await here.goto('/threads/tail')
    const card = here.page.getByRole('list', { name: 'Child tasks' }).getByRole('link')
    await card.getByText('reader', { exact: true }).waitFor()
    const cutPx = await card.getByText(/newest$/).evaluate((line) => {
      const text = document.createRange()
      text.selectNodeContents(line)
      const card = line.closest('a')
      return text.getBoundingClientRect().right - (card?.getBoundingClientRect().right ?? 0)
    })
    expect(cutPx).toBeLessThan(0)
  })

  it('links a child to its task', async () => {
    const here = await openConsoleOf(server())
    await here.run('child', [{ spawn: { name: 'helper', script: [{ return: 1 }], wait: true } }])
    await here.goto('/threads/child')
    await here.page.getByRole('list', { name: 'Child tasks' }).getByRole('link').click()
    await here.page.waitForURL(/\/console\/tasks\/bg_\d+$/)
  })

  it('shows what failed, with why and what was said before', async () => {
    const here = await openConsoleOf(server())
    await here.run('failed', [{ say: 'before' }, { fail: 'the archive is closed' }])
    await here.goto('/threads/failed')
    await here.page.locator('[data-ending=Failed]').getByText('the archive is closed').waitFor()
    await here.page.getByText('before', { exact: true }).waitFor()
  })

  it('folds reasoning, and shows what went into a tool and came out', async () => {
    const here = await openConsoleOf(server())
    const tool = { tool: 'search', input: { query: 'owls' }, output: { hits: 3 } }
    await here.run('tools', [{ think: 'I wonder about owls' }, tool, { say: 'done' }])
    await here.goto('/threads/tools')
    const { page } = here
    await page.getByText('Thought').waitFor()
    const thought = page.getByText('I wonder about owls', { exact: true })
    expect(await thought.isVisible()).toBe(false)
    await page.getByText('Thought').click()
    await thought.waitFor()
    await page.locator('[data-tool=search] summary').click()
    await page.locator('[data-tool=search]').getByText('"hits": 3').waitFor()
  })

  it('shows a picture that is in the message itself, and loads none from elsewhere', async () => {
    const here = await openConsoleOf(server())
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'file', mediaType: 'image/png', name: 'inside.png', url: `data:image/png;base64,${pixel}` },
      { type: 'file', mediaType: 'image/png', name: 'outside.png', url: 'https://spy.test/pixel.png' },
    ]
    await server().request('POST', '/v1/threads/picture/runs', { body: { agent: 'echo', parts } })
    await here.goto('/threads/picture')
    const prompt = here.page.getByLabel('Prompt', { exact: true })
    const image = prompt.getByRole('img', { name: 'inside.png' })
    await image.waitFor()
    await here.page.waitForFunction(() => document.querySelector('img')?.naturalWidth === 1)
    await prompt.getByRole('link', { name: 'outside.png' }).waitFor()
    expect(await here.page.getByRole('img').count()).toBe(1)
  })

  it('keeps what was being written, and sends it once', async () => {
    const here = await openConsoleOf(server(), { path: '/threads/draft' })
    const { page } = here
    const input = page.getByRole('textbox', { name: 'Prompt' })
    await input.fill('half a thought')
    await page.reload()
    expect(await input.inputValue()).toBe('half a thought')
    await page.getByLabel('Agent').selectOption('echo')
    await input.press('Enter')
    await page.getByLabel('Run of echo').locator('[data-status=completed]').waitFor()
    // The answer to the prompt may come after the end of its run.
    await expect.poll(() => input.inputValue()).toBe('')
    expect(await messagesOf('draft')).toEqual(['half a thought'])
  })

  it('of another principal reads as an empty one, and its task as none', async () => {
    const here = await openConsoleOf(server())
    const task = await here.run('private', [{ say: 'a secret' }])
    const bob = await openConsoleOf(server(), { as: 'bob', path: '/threads/private', allowed: [/404/] })
    await bob.page.getByText('Nothing was said here yet').waitFor()
    await bob.goto(`/tasks/${task}`)
    await bob.page.getByText('There is no such task').waitFor()
    expect(await bob.page.getByText('a secret').count()).toBe(0)
  })

  it('loads what was said earlier when it is scrolled up, and keeps the place', async () => {
    const count = 130
    await prompt('long', count)
    const { page } = await openConsoleOf(server(), { path: '/threads/long' })
    await page
      .getByLabel('Prompt')
      .getByText(`prompt number ${count - 1}`, { exact: true })
      .waitFor()
    expect(await page.locator('[data-entry]').count()).toBeLessThan(60)
    const first = page.getByLabel('Prompt').getByText('prompt number 0', { exact: true })
    const column = page.getByRole('region', { name: 'Conversation' })
    // Each time it is at its top there is more above, until there is not.
    while ((await first.count()) === 0) {
      const before = await page.locator('[data-entry]').count()
      await column.evaluate((element) => element.scrollTo(0, 0))
      await page.waitForFunction(([many]) => document.querySelectorAll('[data-entry]').length > Number(many), [
        before,
      ] as const)
    }
    expect(await column.evaluate((element) => element.scrollTop)).toBeGreaterThan(0)
    const { body } = await server().request<{ messages: unknown[] }>('GET', '/v1/threads/long/messages?limit=1000')
    expect(await page.locator('[data-entry]').count()).toBe(body.messages.length)
    await page.getByRole('button', { name: 'To the end' }).click()
    await page
      .getByLabel('Prompt')
      .getByText(`prompt number ${count - 1}`, { exact: true })
      .waitFor()
  })

  it('asks once for what was said earlier if that is refused, and again when it is told to', async () => {
    await prompt('refused', 130)
    const { page, goto } = await openConsoleOf(server(), { allowed: refusals })
    let asked = 0
    await page.route('**/v1/threads/refused/messages?*', (route) => {
      asked += 1
      return route.fulfill({ status: 500, body: '' })
    })
    await goto('/threads/refused')
    const earlier = page.getByRole('button', { name: 'Earlier messages' })
    await earlier.waitFor()
    const column = page.getByRole('region', { name: 'Conversation' })
    while (asked === 0) await column.evaluate((element) => element.scrollTo(0, 0))
    await page.getByRole('alert').filter({ hasText: 'answered 500' }).waitFor()
    const idle = () => page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 })))
    await idle()
    const askedByItself = asked
    await column.evaluate((element) => element.scrollTo(0, 0))
    await idle()
    expect(asked).toBe(askedByItself)
    await page.unroute('**/v1/threads/refused/messages?*')
    await earlier.click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.locator('[data-entry]').nth(snapshotCount).waitFor()
  })

  it.each([
    ['light', undefined],
    ['dark', phone],
  ] as const)('keeps nobody out, in the %s theme', async (theme, viewport) => {
    const here = await openConsoleOf(server(), { theme, ...(viewport && { viewport }) })
    const thread = `axe-${theme}`
    const script = [
      { think: 'well' },
      { tool: 'search', input: {}, output: 1 },
      { say: '# Head\n\n`code` and [link](https://a.test)\n\n| a |\n|---|\n| b |' },
      { spawn: { script: [{ say: 'child' }, { hang: true }] } },
      { ask: { text: 'Which?', options: ['one', 'two'] } },
    ]
    const task = await here.run(thread, script)
    await server().request('POST', `/v1/threads/${thread}/runs`, { body: { agent: 'echo', prompt: 'next' } })
    await here.goto(`/threads/${thread}`)
    await here.page.getByRole('button', { name: 'one' }).waitFor()
    await here.page.locator('[data-queued]').waitFor()
    await here.page.getByRole('table').waitFor()
    await expectAccessible(here.page)
    await here.goto('/threads')
    await here.page.getByRole('link', { name: thread }).waitFor()
    await expectAccessible(here.page)
    await server().request('POST', `/v1/tasks/${task}/cancel`, { body: {} })
  })
})
