import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium as playwright } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

let browser: Browser | undefined

/** Registers a browser for the tests of a file. */
export function withBrowser(): void {
  beforeAll(async () => {
    // There is no graphics card, and a process of its own for one takes a sixth of all that a browser takes.
    const args = ['--no-sandbox', '--in-process-gpu']
    browser = await playwright.launch({ executablePath: await chromium.executablePath(), args })
  })
  afterAll(() => browser?.close())
}

/** A browser of somebody who has never been here. */
export async function freshContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  if (!browser) throw new Error('Call withBrowser() at the top of the file')
  const context = await browser.newContext(options)
  // Of a machine that is busy with other work, half a minute is not enough to tell that something never comes.
  context.setDefaultTimeout(90_000)
  onTestFinished(() => context.close())
  return context
}
