import { pathToFileURL } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from '../console/harness/axe.ts'
import { freshContext, withBrowser } from '../console/harness/browser.ts'
import { refuseProblems } from '../console/harness/problems.ts'
import { withServedSite } from './built-site.ts'

const phone = { width: 390, height: 844 }

describe('the site in a browser', () => {
  const site = withServedSite()
  withBrowser()

  async function open(place: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await freshContext({ viewport: { width: 1440, height: 900 }, ...options })
    const page = await context.newPage()
    await refuseProblems(page)
    await page.goto(new URL(place, site().url).href)
    return page
  }

  const search = async (page: Page, words: string) => {
    await page.keyboard.press('/')
    await page.keyboard.type(words)
    await page.getByRole('option').first().waitFor()
  }

  it.each([
    ['index.html', 'light', undefined],
    ['state-machine.html', 'dark', undefined],
    ['api/ai-sdk.html', 'light', phone],
    ['http.html', 'dark', undefined],
    ['source/src/client/agents.ts.html', 'dark', phone],
  ] as const)('keeps nobody from using %s in %s', async (place, colorScheme, viewport) => {
    const page = await open(place, { colorScheme, ...(viewport && { viewport }) })
    const isWithin = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth'
    expect(await page.evaluate(isWithin)).toBe(true)
    // The parts of a long reference are all alike; a few of them say as much as all.
    await page.evaluate("for (const part of [...document.querySelectorAll('.api-name')].slice(4)) part.remove()")
    await expectAccessible(page)
  })

  it('finds by keys alone what is said of a thing, and goes there', async () => {
    const page = await open('cancellation.html')
    await search(page, 'cancel tree')
    await expectAccessible(page)
    expect(await page.locator('.results mark').count()).toBeGreaterThan(3)
    const names = await page.getByRole('option').allInnerTexts()
    expect(names[0]).toContain('Runtime.cancelTree')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/api/holdfast.html#Runtime.cancelTree')
    expect(await page.getByRole('option').count()).toBe(0)
  })

  it('says that nothing was found, and lets go of the search by Escape', async () => {
    const page = await open('index.html')
    await page.keyboard.press('/')
    await page.keyboard.type('qqqqqqqqqqqq')
    await page.getByText('Nothing is said of “qqqqqqqqqqqq”.').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await page.evaluate("document.querySelector('#site-search').matches(':focus')")).toBe(false)
  })

  it('loads the index of the search only when somebody searches', async () => {
    const page = await open('index.html')
    const isLoaded = () => page.evaluate("'holdfastSearchIndex' in globalThis")
    expect(await isLoaded()).toBe(false)
    await search(page, 'lease')
    expect(await isLoaded()).toBe(true)
  })

  it('keeps the theme that was chosen', async () => {
    const page = await open('index.html', { colorScheme: 'light' })
    const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme')
    await page.getByRole('button', { name: 'Theme: as the system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    expect(await scheme()).toBe('dark')
    await page.reload()
    expect(await scheme()).toBe('dark')
    await page.getByRole('button', { name: 'Theme: dark' }).click()
    expect(await scheme()).toBe('light dark')
  })

  it('copies commands without their prompts and without what they print', async () => {
    const page = await open('cli.html')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const block = page.locator('.code-frame', { has: page.locator('[data-language="console"]') }).first()
    await block.hover()
    await block.getByRole('button', { name: 'Copy' }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).toMatch(/^holdfast /)
    expect(copied).not.toContain('$ ')
  })

  it('opens its pages from a menu on a phone, and folds the contents', async () => {
    const page = await open('operations.html', { viewport: phone })
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Cancellation' })
    expect(await link.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Pages' }).click()
    await link.click()
    await page.waitForURL('**/cancellation.html')
    const contents = page.getByRole('navigation', { name: 'On this page' })
    if ((await contents.count()) > 0) expect(await contents.getByRole('link').first().isVisible()).toBe(false)
  })

  it('works from a disk, its search as well', async () => {
    const context = await freshContext()
    const page = await context.newPage()
    await refuseProblems(page)
    await page.goto(pathToFileURL(`${site().folder}/api/client.html`).href)
    await search(page, 'useThread')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/*.html#*')
    expect(page.url()).toMatch(/^file:.*useThread|^file:.*usethread/)
  })

  it('asks nothing of any other server, and works below any path', async () => {
    const context = await freshContext()
    const asked: string[] = []
    context.on('request', (request) => void asked.push(request.url()))
    const page = await context.newPage()
    await page.route('**/below/**', async (route) => {
      const place = route.request().url().split('/below/')[1] ?? ''
      await route.fulfill({ response: await route.fetch({ url: new URL(place, site().url).href }) })
    })
    await page.goto('http://docs.test/below/decisions/index.html')
    await page.getByRole('link', { name: /^1\. / }).first().click()
    await page.getByRole('link', { name: 'HTTP API' }).click()
    await page.getByRole('heading', { name: 'HTTP API' }).waitFor()
    expect(asked.filter((url) => !url.startsWith('http://docs.test/below/'))).toEqual([])
    // What the last page still asks for is none of this test's.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('is served to this machine alone, and nothing beside it', async () => {
    const { url } = site()
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    const answers = await Promise.all(
      ['', 'agents.html', 'nothing.html', '..%2f..%2fpackage.json', '%E0%A4%A'].map((place) => fetch(url + place)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404])
    expect(answers[0]?.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  })
})
