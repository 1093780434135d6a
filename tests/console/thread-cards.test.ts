import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

async function open(thread: string, script: readonly object[]) {
  const here = await openConsoleOf(server(), { allowed: refusals })
  const task = await here.run(thread, script)
  await here.goto(`/threads/${thread}`)
  return { ...here, task, input: here.page.getByRole('textbox', { name: 'Prompt' }) }
}

describe('prompts that wait', () => {
  it('are counted where there is no room for all, and are shown when they are asked for', async () => {
    const { page } = await open('queue', [{ hang: true }])
    const long = `${'a long prompt '.repeat(10)}with its end`
    for (const prompt of [long, 'two', 'three', 'four', 'five']) {
      await server().request('POST', '/v1/threads/queue/runs', { body: { agent: 'echo', prompt } })
    }
    const queued = page.getByRole('list', { name: 'Queued prompts' }).getByRole('listitem')
    await page.getByRole('button', { name: '2 more queued' }).waitFor()
    expect(await queued.count()).toBe(3)
    expect(await queued.first().innerText()).toContain('…')
    await queued
      .first()
      .getByTitle(/with its end$/)
      .waitFor()
    await page.getByRole('button', { name: '2 more queued' }).click()
    await queued.nth(4).getByText('five').waitFor()
  })
})

describe('a question', () => {
  it('of a child says who asks, and leads there', async () => {
    const child = { name: 'asker', script: [{ ask: { text: 'Blue or red?', options: ['blue'] } }] }
    const { page } = await open('asker', [{ spawn: child }, { ask: { text: 'And you?' } }])
    const [ofChild, own] = ['Blue or red?', 'And you?'].map((name) => page.getByRole('region', { name }))
    await own?.waitFor()
    expect(await own?.getByText('Asked by').count()).toBe(0)
    await ofChild?.getByRole('link', { name: 'asker' }).click()
    await page.waitForURL(/\/console\/tasks\/bg_\d+$/)
  })

  it('of many lines is called by the first of them', async () => {
    const { page } = await open('lines', [{ say: 'Well.' }, { ask: { text: 'Which branch?\nIt has to exist.' } }])
    await page.getByRole('heading', { name: 'Which branch?', exact: true }).waitFor()
    await page.getByText('It has to exist.', { exact: true }).waitFor()
    // What waits for somebody does not look as if it were at work.
    expect(await page.locator('[data-growing] .animate-wait').count()).toBe(0)
  })
})

describe('a tool', () => {
  it('that was cut off by a stop is cancelled, and not failed', async () => {
    const { page } = await open('cut', [{ tool: 'slow', ms: 600_000 }])
    await page.locator('[data-tool=slow]').getByText('running').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-tool=slow]').getByText('cancelled', { exact: true }).waitFor()
  })
})

describe('words', () => {
  it('run in the direction in which they are read', async () => {
    const { page, input } = await open('rtl', [{ say: 'שלום\n\nand back\n\n> עולם' }, { ask: { text: 'מה שמך?' } }])
    const field = page.getByRole('textbox', { name: 'מה שמך?' })
    await field.fill('עדה')
    await input.fill('שלום')
    const hebrew = [page.locator('blockquote'), page.getByRole('heading', { name: 'מה שמך?' }), field, input]
    for (const each of hebrew) expect(await each.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
    const leftOf = (text: string) =>
      page
        .locator('p')
        .and(page.getByText(text, { exact: true }))
        .evaluate((element) => {
          const words = document.createRange()
          words.selectNodeContents(element)
          return words.getBoundingClientRect().left - element.getBoundingClientRect().left
        })
    expect(await leftOf('שלום')).toBeGreaterThan(100)
    expect(await leftOf('and back')).toBe(0)
  })

  it('that are code say in which language, and can be copied', async () => {
    const { page } = await open('code', [{ say: 'So:\n\n```js\nconst a = 1\n```' }])
    await page.getByText('js', { exact: true }).waitFor()
    const copy = page.getByRole('button', { name: 'Copy the code' })
    expect(await copy.evaluate((button) => getComputedStyle(button).opacity)).toBe('1')
    await copy.click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('const a = 1\n')
  })

  it('of an error keep their lines', async () => {
    const { page } = await open('lines-failed', [{ fail: 'one line\nanother' }])
    const ending = page.locator('[data-ending=Failed]')
    await ending.getByText('one line').waitFor()
    expect(await ending.innerText()).toContain('one line\nanother')
  })
})
