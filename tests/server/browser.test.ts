import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import chromium from '@sparticuz/chromium'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Logger } from '../../src/index.ts'
import { attempt } from './harness/attempts.ts'
import { type LocalServer, localServer } from './harness/local-server.ts'

const token = 'secret'
const thread = 't'
// A name that its owner has made to resolve to this machine.
const reboundHost = 'evil.test'

let browser: Browser

beforeAll(async () => {
  browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    // The arguments that come with this build are not used: they turn off what keeps origins apart.
    args: ['--no-sandbox', `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`],
  })
})

afterAll(() => browser.close())

/** A server, and the status of everything that it answered. */
async function watchedServer(): Promise<LocalServer & { readonly answers: string[] }> {
  const answers: string[] = []
  const note = (facts: object) => {
    const { method = 'UPGRADE', status } = facts as { method?: string; status?: number }
    if (status !== undefined) answers.push(`${method} ${status}`)
  }
  const log: Logger = { debug: note, info: note, warn: note, error: note }
  return { ...(await localServer({ log })), answers }
}

async function freshPage(): Promise<Page> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context.newPage()
}

/** Serves an empty page on a port of its own; under /sandboxed one that has no origin. */
async function otherPort(): Promise<number> {
  const server = createServer((request, response) => {
    if (request.url === '/sandboxed') response.setHeader('content-security-policy', 'sandbox allow-scripts')
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Logs a browser in as its user does: on a page of the server itself, with the code of the login link. */
async function logIn(page: Page, { server }: LocalServer): Promise<void> {
  await page.goto(`${server.url}/healthz`)
  const code = server.newLoginCode('owner')
  const status = await page.evaluate(async (given) => {
    const body = JSON.stringify({ code: given })
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/v1/login', { method: 'POST', headers, body })).status
  }, code)
  expect(status).toBe(200)
}

async function headOf({ runtime }: LocalServer): Promise<number> {
  return (await runtime.thread(thread)).head
}

describe('a page', () => {
  it('of the same origin reads, posts and opens a WebSocket with its cookie', async () => {
    const local = await watchedServer()
    const page = await freshPage()
    await logIn(page, local)
    expect(await page.evaluate(attempt, { url: local.server.url, thread, token })).toEqual({
      read: '200',
      blindRead: '200',
      post: '202',
      blindPost: '202',
      stream: 'open',
      socket: 'open',
      readWithToken: '200',
      socketWithToken: 'open',
    })
    expect((await local.runtime.list({ thread })).tasks).toHaveLength(2)
  })

  it('of the same origin is told to log in where it has no cookie', async () => {
    const local = await watchedServer()
    const page = await freshPage()
    await page.goto(`${local.server.url}/healthz`)
    expect(await page.evaluate(attempt, { url: local.server.url, thread, token })).toMatchObject({
      read: '401',
      post: '401',
      blindPost: '401',
      stream: 'refused',
      socket: 'refused',
      readWithToken: '200',
      socketWithToken: 'open',
    })
    expect(await headOf(local)).toBe(0)
  })

  const origins = {
    // Another port is another origin and yet the same site: the browser sends the cookie along.
    'of another port': { at: (port: number) => `http://127.0.0.1:${port}/`, blindRead: { with: 200, without: 401 } },
    'of another site': { at: (port: number) => `http://localhost:${port}/`, blindRead: { with: 401, without: 401 } },
    'of no origin': {
      at: (port: number) => `http://127.0.0.1:${port}/sandboxed`,
      blindRead: { with: 401, without: 401 },
    },
  }
  const cases = Object.entries(origins).flatMap(([which, origin]) =>
    (['with', 'without'] as const).map((cookie) => ({ which, cookie, ...origin })),
  )

  it.for(cases)('$which $cookie a cookie cannot read, post or open a WebSocket', async ({ at, cookie, blindRead }) => {
    const local = await watchedServer()
    const page = await freshPage()
    if (cookie === 'with') await logIn(page, local)
    await page.goto(at(await otherPort()))
    local.answers.length = 0
    expect(await page.evaluate(attempt, { url: local.server.url, thread, token })).toEqual({
      read: 'blocked',
      blindRead: 'opaque',
      post: 'blocked',
      blindPost: 'opaque',
      stream: 'refused',
      socket: 'refused',
      readWithToken: 'blocked',
      socketWithToken: 'refused',
    })
    // It is the server that refuses, whatever the browser does besides.
    const answered = [
      'GET 403',
      `GET ${blindRead[cookie]}`,
      'OPTIONS 403',
      'POST 403',
      'GET 403',
      'UPGRADE 403',
      'OPTIONS 403',
      'UPGRADE 403',
    ]
    // What it has answered it notes a moment later.
    await expect.poll(() => local.answers).toEqual(answered)
    expect(await headOf(local)).toBe(0)
  })

  it('of another origin cannot post by a form that carries the cookie', async () => {
    const local = await watchedServer()
    const page = await freshPage()
    await logIn(page, local)
    await page.goto(`http://127.0.0.1:${await otherPort()}/`)
    const body = JSON.stringify({ agent: 'script', prompt: 'from a form', description: '' })
    const [name, value] = body.split('""').map((part) => part.replaceAll('"', '&quot;'))
    await page.setContent(`
      <form method="post" enctype="text/plain" action="${local.server.url}/v1/threads/${thread}/runs">
        <input name="${name}&quot;" value="&quot;${value}"><button>Send</button>
      </form>`)
    const [response] = await Promise.all([page.waitForNavigation(), page.click('button')])
    expect(response?.status()).toBe(403)
    expect(await headOf(local)).toBe(0)
  })
})

describe('a host name that was rebound to this machine', () => {
  it('is refused with 403, whatever the page knows', async () => {
    const local = await watchedServer()
    const page = await freshPage()
    const url = `http://${reboundHost}:${local.server.port}`
    const response = await page.goto(`${url}/v1/threads`)
    expect(response?.status()).toBe(403)
    expect(await response?.json()).toMatchObject({ code: 'forbidden_origin' })
    // To the browser this is a page of the same origin now, so nothing is in its way but the server.
    expect(await page.evaluate(attempt, { url, thread, token })).toEqual({
      read: '403',
      blindRead: '403',
      post: '403',
      blindPost: '403',
      stream: 'refused',
      socket: 'refused',
      readWithToken: '403',
      socketWithToken: 'refused',
    })
    expect(await headOf(local)).toBe(0)
  })

  it('cannot log in', async () => {
    const local = await watchedServer()
    const page = await freshPage()
    await page.goto(`http://${reboundHost}:${local.server.port}/healthz`)
    const code = local.server.newLoginCode('owner')
    const login = (body: string) => fetch('/v1/login', { method: 'POST', body }).then(({ status }) => status)
    expect(await page.evaluate(login, JSON.stringify({ code }))).toBe(403)
    expect(await page.context().cookies()).toEqual([])
  })
})
