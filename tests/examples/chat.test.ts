import { join } from 'node:path'
import { Chat } from '@ai-sdk/react'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createChatTransport } from '../../src/react/chat-transport.ts'
import { toUIMessages } from '../../src/react/chat-transport-messages.ts'
import { expectAccessible } from '../console/harness/axe.ts'
import { freshContext, withBrowser } from '../console/harness/browser.ts'
import { refusals, refuseProblems } from '../console/harness/problems.ts'
import { partsOf } from '../react/chat-reader.ts'
import { textOf } from '../react/chat-stage.ts'
import { OwnedProcess } from '../server/harness/owned-process.ts'
import { type InstalledExample, installExample } from './installed-example.ts'

const passwords = { alice: 'wonderland', bob: 'builder' }
// Nine sentences are said about it, so that there is time to do something in between.
const prompt = 'fjords'

let example: InstalledExample

withBrowser()

beforeAll(() => {
  example = installExample('chat')
})

afterAll(() => example.remove())

let started = 0

interface Served {
  readonly url: string
  /** Ends it with `kill -9`, and starts it again in the same place. */
  restart(): Promise<void>
}

/** Where something is done in between, it takes longer for each word. */
async function serveChat(wordMs = 30): Promise<Served> {
  started += 1
  const store = `sqlite:${join(example.folder, `${started}.db`)}`
  const env = { STORE: store, WORD_MS: String(wordMs), NODE_NO_WARNINGS: '1' }
  const start = (port: string) =>
    new OwnedProcess({ arguments: ['server/main.ts'], folder: example.folder, env: { ...env, PORT: port } })
  let server = start('0')
  onTestFinished(async () => void (await server.end('SIGKILL')))
  const listening = /Chat on (http:\S+:(\d+))/
  const [, url = '', port = ''] = await server.line(listening)
  const restart = async () => {
    await server.end('SIGKILL')
    server = start(port)
    await server.line(listening)
  }
  return { url, restart }
}

async function logIn(url: string, user: keyof typeof passwords): Promise<Page> {
  const page = await (await freshContext()).newPage()
  await refuseProblems(page, refusals)
  await page.goto(url)
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(passwords[user])
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'New chat' }).waitFor()
  return page
}

async function ask(page: Page, text: string, button = 'Send'): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: button }).click()
}

const said = (page: Page, text: string) => page.locator('.said', { hasText: text })
const answer = (page: Page) => page.locator('.said.assistant > p').innerText()

/** What the server answers to whoever is logged in on the page. */
function read<Body>(page: Page, path: string): Promise<Body> {
  return page.evaluate(async (asked) => (await fetch(asked)).json(), path) as Promise<Body>
}

function tasksOf(page: Page) {
  return read<{ tasks: { status: string; thread: string; result?: unknown }[] }>(page, '/holdfast/v1/tasks')
}

describe('the example chat', () => {
  it('goes on in the middle of an answer after a reload', async () => {
    const { url } = await serveChat()
    const page = await logIn(url, 'alice')
    await ask(page, prompt)
    await said(page, 'There are 9 things').waitFor()
    await page.reload()
    await said(page, 'There are 9 things to say about “fjords”').waitFor()
    await said(page, 'that is all that I know about “fjords”.').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    expect((await answer(page)).match(/There are/g)).toHaveLength(1)
    expect(await page.locator('.said.user').allInnerTexts()).toEqual([prompt])
    expect(await page.getByRole('link', { name: 'fjords' }).count()).toBe(1)
    expect((await tasksOf(page)).tasks.map(({ status }) => status)).toEqual(['completed'])
  })

  it('goes on where it was after kill -9 and a restart of its server', async () => {
    const { url, restart } = await serveChat()
    const page = await logIn(url, 'alice')
    await ask(page, prompt)
    await said(page, 'Number 2').waitFor()
    await restart()
    await said(page, 'that is all that I know about “fjords”.').waitFor()
    const text = await answer(page)
    const numbered = [2, 3, 4, 5, 6, 7, 8].map((place) => `Number ${place}`)
    expect(text.match(/There are|Number \d|And that/g)).toEqual(['There are', ...numbered, 'And that'])
  })

  it('stops when it is told to, and still shows what was said', async () => {
    const { url } = await serveChat(300)
    const page = await logIn(url, 'alice')
    await ask(page, prompt)
    await said(page, 'There are 9').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped').waitFor()
    expect((await tasksOf(page)).tasks.map(({ status }) => status)).toEqual(['cancelled'])
    const before = await answer(page)
    await page.reload()
    await page.getByText('Stopped').waitFor()
    expect(await answer(page)).toBe(before)
  })

  it('is steered while it talks, and what is queued waits and can be withdrawn', async () => {
    const { url } = await serveChat(100)
    const page = await logIn(url, 'alice')
    await ask(page, prompt)
    await said(page, 'There are 9').waitFor()
    await ask(page, 'lakes', 'Steer now')
    await ask(page, 'something else', 'Queue next')
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await said(page, 'that is all that I know about “lakes”.').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    const { tasks } = await tasksOf(page)
    expect(tasks.map(({ status }) => status)).toEqual(['cancelled', 'completed'])
  })

  it('is usable with a keyboard and a screen reader, by light and by dark', async () => {
    const { url } = await serveChat()
    const page = await logIn(url, 'alice')
    await ask(page, 'Book a table for two')
    await page.getByRole('region', { name: 'Question' }).waitFor()
    await ask(page, 'and then', 'Queue next')
    await page.getByRole('button', { name: 'Withdraw' }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
    }
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('User').waitFor()
    await expectAccessible(page)
  })

  it('keeps what was typed until it is accepted', async () => {
    const { url } = await serveChat()
    const page = await logIn(url, 'alice')
    const full = { code: 'limit_reached', title: 'Too many', detail: 'Too many tasks are open', status: 429 }
    const typed = () => page.getByLabel('Message').inputValue()
    for (const [where, text] of [
      ['a new chat', 'fjords'],
      ['a chat', 'lakes'],
    ] as const) {
      await page.route('**/runs', (route) => route.fulfill({ status: 429, json: full }))
      await ask(page, text)
      await page.getByRole('alert').filter({ hasText: full.detail }).waitFor()
      expect([where, await typed()]).toEqual([where, text])
      await page.unroute('**/runs')
      await page.getByRole('button', { name: /Send|Queue next/ }).click()
      await said(page, `that is all that I know about “${text}”.`).waitFor()
      expect([where, await typed()]).toEqual([where, ''])
    }
  })

  it('links files of the web and images, and nothing that would run in the page', async () => {
    const { url } = await serveChat()
    const page = await logIn(url, 'alice')
    const urls = [
      'https://example.com/a',
      'data:image/png;base64,AA==',
      'javascript:alert(1)',
      'data:text/html,x',
      '//x y',
    ]
    const parts = urls.map((each, place) => ({
      type: 'file',
      mediaType: 'image/png',
      name: `file ${place}`,
      url: each,
    }))
    await page.route('**/holdfast/v1/threads/*', async (route) => {
      const response = await route.fetch()
      const snapshot = (await response.json()) as object
      const messages = [{ id: 'm', seq: 1, role: 'assistant', parts, createdAt: 1 }]
      await route.fulfill({ response, json: { ...snapshot, messages } })
    })
    await page.goto(`${url}/#files`)
    await said(page, 'file 4').waitFor()
    const links = page.locator('.said').getByRole('link')
    expect(await links.allInnerTexts()).toEqual(['file 0', 'file 1'])
  })

  it('asks before it does what cannot be undone, in every tab', async () => {
    const { url } = await serveChat()
    const page = await logIn(url, 'alice')
    await ask(page, 'Book a table for two')
    await page.getByRole('region', { name: 'Question' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByRole('button', { name: 'Leave it' }).click()
    await said(page, 'Then I leave it.').waitFor()
    await page.getByRole('region', { name: 'Question' }).waitFor({ state: 'detached' })
  })

  it('shows bob nothing of what alice asked', async () => {
    const { url } = await serveChat()
    const alice = await logIn(url, 'alice')
    await ask(alice, prompt)
    await said(alice, 'There are 9').waitFor()
    const bob = await logIn(url, 'bob')
    await bob.getByText('Nothing yet').waitFor()
    await bob.goto(alice.url())
    await bob.getByRole('heading', { name: 'fjords' }).waitFor()
    expect(await tasksOf(bob)).toEqual({ tasks: [] })
    expect(await bob.locator('.said').count()).toBe(0)
    const thread = decodeURIComponent(new URL(alice.url()).hash.slice(1))
    expect(await read(bob, `/holdfast/v1/threads/${thread}`)).toMatchObject({ head: 0, messages: [], tasks: [] })
    await ask(bob, 'mine')
    await said(bob, 'about “mine”').first().waitFor()
    expect((await tasksOf(alice)).tasks).toHaveLength(1)
  })

  it('lets nobody in without the password, and nobody stay who logs out', async () => {
    const { url } = await serveChat()
    const page = await (await freshContext()).newPage()
    await page.goto(url)
    await page.getByLabel('User').fill('alice')
    await page.getByLabel('Password').fill('guessed')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').waitFor()
    const forged = { headers: { cookie: 'user=alice.forged' } }
    for (const init of [{}, forged]) expect((await fetch(`${url}/holdfast/v1/tasks`, init)).status).toBe(401)
    const alice = await logIn(url, 'alice')
    await alice.getByRole('button', { name: 'Log out' }).click()
    await alice.getByLabel('User').waitFor()
    expect(await alice.evaluate(async () => (await fetch('/holdfast/v1/tasks')).status)).toBe(401)
  })

  it('is a server for useChat too, which takes back the words that a crash broke off', async () => {
    const { url, restart } = await serveChat(60)
    const client = createClient({ url: `${url}/holdfast`, transport: 'sse', fetch: await loggedIn(url, 'alice') })
    onTestFinished(() => client.close())
    const chat = new Chat({ id: 'c', transport: createChatTransport({ client, agent: 'helper' }) })
    const crash = Promise.withResolvers<undefined>()
    const stopListening = chat['~registerMessagesCallback'](() => {
      if (textOf(chat.lastMessage).includes('Number 2: all of')) crash.resolve(undefined)
    })
    const sent = chat.sendMessage({ text: prompt })
    await crash.promise
    stopListening()
    await restart()
    await sent
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    const { messages, tasks } = await client.snapshot('c')
    expect(tasks.map(({ status, attempt }) => [status, attempt])).toEqual([['completed', 2]])
    expect(partsOf(chat.lastMessage)).toEqual(partsOf(toUIMessages(messages)[1]))
    expect(textOf(chat.lastMessage).match(/Number 2/g)).toHaveLength(1)
  })
})

/** Asks with the cookie of a user, as a browser does. */
async function loggedIn(url: string, user: keyof typeof passwords): Promise<typeof fetch> {
  const body = JSON.stringify({ user, password: passwords[user] })
  const { headers } = await fetch(`${url}/login`, { method: 'POST', body })
  const [cookie = ''] = headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  return (asked, init) => fetch(asked, { ...init, headers: { ...(init?.headers as Record<string, string>), cookie } })
}
