import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../src/client/index.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

const waiting = [{ say: 'at work' }, { receive: {} }, { say: ' and told' }, { receive: {} }]

async function open(thread: string, script: readonly object[] = waiting) {
  const here = await openConsoleOf(server(), { allowed: refusals })
  const task = await here.run(thread, script)
  await here.goto(`/threads/${thread}`)
  await here.page.getByLabel('Run of script').getByText('at work').first().waitFor()
  return { ...here, task, input: here.page.getByRole('textbox', { name: 'Prompt' }) }
}

async function tasksOf(thread: string): Promise<readonly Task[]> {
  const { body } = await server().request<{ tasks: Task[] }>('GET', `/v1/tasks?thread=${thread}`)
  return body.tasks.toReversed()
}

const queued = (page: Page) => page.getByRole('list', { name: 'Queued prompts' }).getByRole('listitem')
const prompts = (page: Page) => page.getByLabel('Prompt', { exact: true })

describe('while a run is live', () => {
  it('a message steers it: it reads it, and it is in the conversation', async () => {
    const { page, input } = await open('steer')
    await input.fill('mind the gap')
    await page.getByRole('button', { name: 'Steer now' }).click()
    await page.getByText('at work and told').waitFor()
    expect(await tasksOf('steer')).toHaveLength(1)
    await prompts(page).getByText('mind the gap').waitFor()
  })

  it('what it was told stands in it where it read it, live and after a reload', async () => {
    const { page, input } = await open('steered', [
      { say: 'First at work. ' },
      { receive: {} },
      { say: 'Then told.' },
      { receive: {} },
      { say: ' And told again.' },
      { hang: true },
    ])
    const run = page.getByLabel('Run of script')
    for (const [text, next] of [
      ['mind the gap', 'Then told.'],
      ['and the doors', 'And told again.'],
    ] as const) {
      await input.fill(text)
      await input.press('Enter')
      await run.getByText(next, { exact: true }).waitFor()
    }
    const inOrder = /First at work\.\s*mind the gap\s*Then told\.\s*and the doors\s*And told again\./
    await expect.poll(() => run.innerText()).toMatch(inOrder)
    await page.reload()
    await expect.poll(() => run.innerText()).toMatch(inOrder)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
    expect(await run.innerText()).toMatch(inOrder)
  })

  it('what it was told and has not read is told in every tab, and after a reload', async () => {
    const { page, input, task, tab } = await open('told', [{ say: 'at work' }, { hang: true }])
    const other = await tab('/threads/told')
    await other.getByRole('button', { name: 'Steer now' }).waitFor()
    await input.fill('mind the gap')
    await page.getByRole('button', { name: 'Steer now' }).click()
    await other.getByText('Told: mind the gap', { exact: true }).waitFor()
    await server().request('POST', `/v1/tasks/${task}/messages`, { body: { content: 'not part of the conversation' } })
    await page.reload()
    for (const each of [page, other]) {
      await each.getByText('Told: mind the gap', { exact: true }).waitFor()
      await each.getByText('not read yet; if the run ends first, it is asked next').waitFor()
      expect(await each.getByText(/^Told:/).count()).toBe(1)
    }
    await server().request('POST', `/v1/tasks/${task}/cancel`, { body: {} })
    await prompts(other).getByText('mind the gap').waitFor()
    await other.getByText(/^Told:/).waitFor({ state: 'detached' })
  })

  it.each([390, 360, 320])('everything that can be done is within a phone %i wide', async (width) => {
    const { page } = await open(`narrow-${width}`)
    await page.setViewportSize({ width, height: 700 })
    const form = await page.getByRole('form', { name: 'Write to the thread' }).boundingBox()
    for (const name of ['Stop', 'Interrupt', 'Queue next', 'Steer now']) {
      const button = await page.getByRole('button', { name, exact: true }).boundingBox()
      if (!form || !button) throw new Error(`${name} is there`)
      expect(button.x).toBeGreaterThanOrEqual(form.x)
      expect(button.x + button.width).toBeLessThanOrEqual(form.x + form.width)
    }
  })

  it('a prompt is queued, shown in its place, and can be withdrawn', async () => {
    const { page, input } = await open('queue')
    const other = await page.context().newPage()
    await other.goto(page.url())
    await input.fill('first in line')
    await page.getByRole('button', { name: 'Queue next' }).click()
    await queued(page).getByText('first in line').waitFor()
    await input.fill('second in line')
    await input.press('Control+Enter')
    await queued(page).nth(1).getByText('second in line').waitFor()
    await queued(other).nth(1).getByText('second in line').waitFor()
    await page.getByRole('button', { name: 'Withdraw: first in line' }).click()
    await queued(other).first().getByText('second in line').waitFor()
    expect(await queued(other).count()).toBe(1)
    const [, first, second] = await tasksOf('queue')
    expect([first?.status, second?.status]).toEqual(['cancelled', 'pending'])
  })

  it('an interruption cancels it and is asked instead', async () => {
    const { page, input } = await open('interrupt')
    await input.fill('this instead')
    await input.press('Control+Shift+Enter')
    await page.locator('[data-ending=Cancelled]').waitFor()
    await prompts(page).getByText('this instead').waitFor()
    await page.getByLabel('Run of script').nth(1).locator('[data-status=completed]').waitFor()
    expect((await tasksOf('interrupt')).map(({ status }) => status)).toEqual(['cancelled', 'completed'])
  })

  it('Stop cancels what waits as well', async () => {
    const { page, input } = await open('stop-all')
    await input.fill('never asked')
    await page.getByRole('button', { name: 'Queue next' }).click()
    await queued(page).getByText('never asked').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect((await tasksOf('stop-all')).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  })

  it('the key for Stop asks once more, and cancels what waits as well', async () => {
    const { page, input, task } = await open('stop-key')
    await input.fill('never asked')
    await page.getByRole('button', { name: 'Queue next' }).click()
    await queued(page).getByText('never asked').waitFor()
    await input.press('Escape')
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: `Cancel task ${task}?` })
    await dialog.getByText('what waits in this thread is not begun').waitFor()
    expect((await tasksOf('stop-key')).map(({ status }) => status)).toEqual(['running', 'pending'])
    await dialog.getByRole('button', { name: 'Cancel this tree' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect((await tasksOf('stop-key')).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  })
})

describe('a question', () => {
  it('that is answered in one tab is closed in the other, with the answer, and after a reload', async () => {
    const ask = { ask: { text: 'Which way?', options: ['left', 'right'] } }
    const { page, tab } = await open('question', [{ say: 'at work' }, ask, { hang: true }])
    const other = await tab('/threads/question')
    await other.getByRole('button', { name: 'right' }).waitFor()
    await page.getByRole('button', { name: 'left' }).click()
    for (const each of [page, other]) {
      await each.locator('[data-question][data-open=false]').getByText('left').waitFor()
      await each.getByText('answered by alice').waitFor()
      expect(await each.getByRole('button', { name: 'right' }).count()).toBe(0)
    }
    await other.reload()
    await other.getByText('answered by alice').waitFor()
  })

  it('shows its answer where what the page had not read yet is no longer kept', async () => {
    const { page, run, task } = await open('pruned')
    for (const content of ['one', 'two']) {
      await server().request('POST', `/v1/tasks/${task}/messages`, { body: { content } })
    }
    await page.locator('[data-status=completed]').first().waitFor()
    await server().request('POST', '/v1/prune', { body: { eventsPerThread: 1 } })
    await run('pruned', [{ ask: { text: 'And now?', options: ['yes'] } }])
    await page.getByRole('button', { name: 'yes' }).click()
    await page.getByText('answered by alice').waitFor()
    await page.reload()
    await page.getByText('answered by alice').waitFor()
  })

  it('without options takes any text', async () => {
    const { page } = await open('free', [{ say: 'at work' }, { ask: { text: 'Your name?' } }, { hang: true }])
    await page.getByRole('textbox', { name: 'Your name?' }).fill('Ada')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByText('answered by alice').waitFor()
  })

  it('of a run that ends is closed', async () => {
    const { page } = await open('closed', [{ say: 'at work' }, { ask: { text: 'Still there?' } }])
    await page.getByRole('textbox', { name: 'Still there?' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-question][data-open=false]').getByText('Closed').waitFor()
  })
})

describe('a page that is offline', () => {
  it('says so, and goes on by itself when it is back, without a gap', async () => {
    const { page, context, task } = await open('offline')
    await context.setOffline(true)
    await page
      .getByText(/^(Offline|Reconnecting)/)
      .first()
      .waitFor()
    await server().request('POST', `/v1/tasks/${task}/messages`, { body: { content: 'while you were away' } })
    await context.setOffline(false)
    await page.getByText('at work and told').waitFor()
    await page.locator('[data-connection=live]').first().waitFor()
  })
})

describe('what a model writes', () => {
  it('takes nothing else down, however intricate it is', async () => {
    const intricate = [`${'- '.repeat(1000)}x`, `${'>>>> '.repeat(500)}x`, '*a **b '.repeat(3000)]
    const { page, input } = await open('intricate', [
      { say: ['at work', ...intricate, 'and **done**'].join('\n\n') },
      { receive: {} },
      { say: ' and told' },
    ])
    await page.getByLabel('Run of script').locator('strong').getByText('done').waitFor()
    await input.fill('mind the gap')
    await page.getByRole('button', { name: 'Steer now' }).click()
    await page.getByLabel('Run of script').getByText('and told').waitFor()
  })

  it('stays text, whatever is in it', async () => {
    const hostile = [
      'at work',
      '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>',
      '[click](javascript:document.title=%22owned%22) [data](data:text/html,x) [fine](https://a.test/x)',
      '![spy](https://spy.test/pixel.png)',
      '\u001b[31mred\u001b[0m \u202egnp.exe',
    ].join('\n\n')
    const { page } = await open('hostile', [{ say: hostile }, { tool: '\u001b[2Jwipe', input: { '<b>': hostile } }])
    const said = page.getByLabel('Run of script')
    await said.getByText('<script>').first().waitFor()
    await said.locator('[data-tool] summary').click()
    expect(await page.title()).not.toContain('owned')
    const column = page.getByRole('region', { name: 'Conversation' })
    expect(await column.locator('img, script, iframe').count()).toBe(0)
    const links = await column
      .locator('a[target]')
      .evaluateAll((found) => found.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]))
    expect(links).toEqual([
      ['https://a.test/x', 'noopener noreferrer'],
      ['https://spy.test/pixel.png', 'noopener noreferrer'],
    ])
    const text = (await column.textContent()) ?? ''
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
    expect(text).not.toMatch(/[\u001b\u202e]/)
    expect(text).toContain('⟨U+202E⟩')
  })
})
