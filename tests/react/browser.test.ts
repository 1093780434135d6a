import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import chromium from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient, type ThreadSnapshot } from '../../src/client/index.ts'
import { type LocalServer, localServer, until } from '../server/harness/local-server.ts'
import { App } from './browser/app.ts'

let browser: Browser
let script: string

beforeAll(async () => {
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'] })
  script = await bundle()
})

afterAll(() => browser.close())

async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    mode: 'development',
    // React tells of a page that does not match only in development.
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, modulePreload: false, rolldownOptions: { input: 'tests/react/browser/main.ts' } },
  })
  const [first] = [built].flat()
  if (!first || !('output' in first)) throw new Error('A build gives its output')
  return first.output[0].code
}

/** What a page was seen to do. */
interface Seen {
  readonly page: Page
  readonly local: LocalServer
  readonly sockets: string[]
  readonly requests: string[]
  /** What it complained of. */
  readonly complaints: string[]
  /** What the page is made of from now on: a snapshot is rendered on the server. */
  initial?: ThreadSnapshot
}

async function open(prepare: (seen: Seen) => Promise<unknown>): Promise<Seen> {
  const site = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : htmlOf(seen))
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  onTestFinished(() => void site.close())
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  const local = await localServer({ origins: [address] })
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const seen: Seen = { page, local, sockets: [], requests: [], complaints: [] }
  page.on('websocket', (socket) => seen.sockets.push(socket.url()))
  page.on('request', (request) => seen.requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  page.on('pageerror', (error) => seen.complaints.push(error.message))
  page.on('console', (line) => {
    if (line.type() === 'error' && !line.text().includes('favicon')) seen.complaints.push(line.text())
  })
  await prepare(seen)
  await page.goto(address)
  return seen
}

function htmlOf({ local, initial }: Seen): string {
  const client = createClient({ url: local.server.url, token: 'secret' })
  const html = initial ? renderToString(createElement(App, { client, initial })) : ''
  client.close()
  const given = JSON.stringify({ url: local.server.url, ...(initial && { initial }) }).replaceAll('<', '\\u003c')
  return `<!doctype html><link rel="icon" href="data:,"><div id="root">${html}</div><script>const given = ${given}</script>
    <script type="module" src="/page.js"></script>`
}

const half = [{ say: 'once upon ' }, { receive: {} }, { say: 'a time' }, { hang: true }]

async function shows(page: Page, view: string, text: string): Promise<void> {
  await page.locator(`#${view} p`, { hasText: new RegExp(`^${text}$`) }).waitFor()
}

describe('a page of hooks in a browser', () => {
  it('has one WebSocket for all of it in strict mode; leaving cancels nothing, and stop cancels', async () => {
    const seen = await open(({ local }) => local.run('t', half))
    const { page, local, sockets, requests, complaints } = seen
    for (const view of ['one', 'two']) await shows(page, view, 'once upon ')
    const [task] = (await local.runtime.list({})).tasks
    const id = task?.id ?? ''
    await page.locator('li', { hasText: `${id} running` }).waitFor()
    await page.locator('ul[title=live]').waitFor()
    expect(sockets).toHaveLength(1)
    expect((await local.runtime.thread('t')).watchers).toBe(1)
    expect(requests.filter((request) => request === 'GET /v1/threads/t')).toHaveLength(1)

    await page.click('#toggle')
    await until(async () => (await local.runtime.thread('t')).watchers === 0)
    expect(await local.runtime.get(id)).toMatchObject({ status: 'running' })
    await page.click('#toggle')
    await shows(page, 'two', 'once upon ')

    await page.click('#two button')
    await page.locator('li', { hasText: `${id} cancelled` }).waitFor()
    await page.locator('#one h2', { hasText: 'idle' }).waitFor()
    expect(await local.runtime.get(id)).toMatchObject({ status: 'cancelled' })
    expect(complaints).toEqual([])
  })

  it('shows the same half of a text after a reload, and goes on', async () => {
    const { page, local } = await open(({ local }) => local.run('t', half))
    await shows(page, 'one', 'once upon ')
    await page.reload()
    await shows(page, 'one', 'once upon ')
    const [task] = (await local.runtime.list({})).tasks
    await local.runtime.send(task?.id ?? '', { content: 'go on' })
    await shows(page, 'one', 'once upon a time')
    expect(await local.runtime.get(task?.id ?? '')).toMatchObject({ status: 'running', attempt: 1 })
  })

  it('takes over what a server rendered without a mismatch and without another snapshot', async () => {
    const { page, local, requests, sockets, complaints } = await open(async (seen) => {
      await seen.local.run('t', half)
      await until(async () => (await seen.local.runtime.thread('t')).live.length > 0)
      seen.initial = await seen.local.runtime.thread('t')
    })
    await shows(page, 'one', 'once upon ')
    await page.locator('ul[title=live]').waitFor()
    const [task] = (await local.runtime.list({})).tasks
    await local.runtime.send(task?.id ?? '', { content: 'go on' })
    await shows(page, 'two', 'once upon a time')
    expect(requests.filter((request) => request.includes('/v1/threads'))).toEqual([])
    expect(sockets).toHaveLength(1)
    expect(complaints).toEqual([])
  })
})
