// Takes the pictures of docs/screenshots: every screen of the console, in both themes, wide and narrow, of the demo as
// `npm start` shows it. Run with `npm run screenshots`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as driver, type Page } from 'playwright-core'

const token = 'screenshots'
const target = 'docs/screenshots'
const themes = ['light', 'dark'] as const
const widths = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

interface Screen {
  readonly name: string
  readonly path: string
  /** What is there once the screen shows what it is for. */
  readonly until: (page: Page) => Promise<void>
}

const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor()

const isWide = (page: Page) => page.viewportSize()?.width === 1440

const screens: readonly Screen[] = [
  { name: 'thread', path: '/threads/demo', until: text(/a question for you:/) },
  // Where there is room, the row counts its children once it rests.
  { name: 'tasks', path: '/tasks', until: (page) => text(isWide(page) ? '3 running' : 'running')(page) },
  { name: 'task', path: '/tasks/bg_0', until: text(/Looks into/) },
  { name: 'timeline', path: '/tasks/bg_0?tab=timeline', until: text(/Looks into/) },
  { name: 'events', path: '/tasks/bg_0?tab=events', until: text('task.started') },
  { name: 'threads', path: '/threads', until: text('demo') },
  { name: 'agents', path: '/agents', until: text('demo') },
  { name: 'agent', path: '/agents/script', until: text('script') },
  { name: 'system', path: '/system', until: text('Queue') },
]

async function startDemo(folder: string): Promise<{ url: string; end(): Promise<void> }> {
  const env = { ...process.env, XDG_STATE_HOME: folder, HOLDFAST_TOKEN: token, NO_COLOR: '1' }
  const server = spawn(process.execPath, ['bin/holdfast.js', 'dev', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of server.stdout) {
    said += String(chunk)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
    if (!url) continue
    server.stdout.resume()
    return {
      url,
      async end() {
        server.kill('SIGKILL')
        if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
      },
    }
  }
  throw new Error(`The demo did not start: ${said}`)
}

async function shoot(browser: Browser, url: string, theme: (typeof themes)[number], viewport: (typeof widths)[number]) {
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
  })
  const login = await context.request.post(`${url}/v1/login`, { data: { token } })
  if (!login.ok()) throw new Error(`The login was answered with ${login.status()}`)
  const page = await context.newPage()
  for (const { name, path, until } of screens) {
    await page.goto(`${url}/console${path}`)
    await until(page)
    await page.screenshot({ path: join(target, `${name}-${theme}-${viewport.width}.png`) })
  }
  await context.close()
}

/** A demo of its own each time, so that all of them show it while it is at work. */
async function withDemo(use: (url: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-screenshots-'))
  const demo = await startDemo(folder)
  try {
    await use(demo.url)
  } finally {
    await demo.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

mkdirSync(target, { recursive: true })
const browser = await driver.launch({ args: ['--no-sandbox'], executablePath: await chromium.executablePath() })
try {
  for (const viewport of widths) {
    for (const theme of themes) await withDemo((url) => shoot(browser, url, theme, viewport))
  }
} finally {
  await browser.close()
}
