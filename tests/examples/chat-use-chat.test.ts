import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshContext, withBrowser } from '../console/harness/browser.ts'
import { refusals, refuseProblems } from '../console/harness/problems.ts'
import { type Stage, stage } from '../react/chat-stage.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-use-chat-'))
const at = (path: string) => resolve(import.meta.dirname, '../..', path)

withBrowser()

beforeAll(async () => {
  await build({
    root: join(import.meta.dirname, 'chat-page'),
    configFile: false,
    logLevel: 'error',
    base: '/page/',
    resolve: { alias: { 'holdfast/client': at('src/client/index.ts'), 'holdfast/react': at('src/react/index.ts') } },
    build: { outDir: folder, emptyOutDir: true, target: 'es2024' },
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The page, as if the server had it among its own, for somebody who is logged in. */
async function open(): Promise<Stage & { readonly page: Page }> {
  const made = await stage()
  const { url } = made.server
  const context = await freshContext()
  await context.request.post(`${url}/v1/login`, { data: { token: 'secret' } })
  await context.route(`${url}/page/**`, (route) => {
    const { pathname } = new URL(route.request().url())
    return route.fulfill({ path: join(folder, pathname.slice('/page/'.length)) })
  })
  const page = await context.newPage()
  await refuseProblems(page, refusals)
  await page.goto(`${url}/page/index.html`)
  return { ...made, page }
}

/** Asks, and waits until the page shows the first words of the answer. */
async function answering({ page, cue }: { page: Page; cue: Stage['cue'] }, words: string): Promise<void> {
  await page.getByRole('button', { name: 'Send' }).click()
  cue((ctx) => ctx.say(words))
  await answer(page, words)
}

const answer = (page: Page, text: string) =>
  page
    .locator('p.assistant')
    .and(page.getByText(text, { exact: true }))
    .waitFor()
const status = (page: Page, name: string) => page.locator(`output.${name}`).waitFor()
const shown = (page: Page) => page.locator('p').allTextContents()

async function runOf({ client }: Stage) {
  const [run] = (await client.list({ thread: 't' })).tasks
  if (!run) throw new Error('Nothing was asked')
  return run
}

describe('a page with the useChat of the AI SDK', () => {
  it('is written as the documentation says', () => {
    const component = readFileSync(join(import.meta.dirname, 'chat-page/chat.tsx'), 'utf8')
    expect(readFileSync(at('docs/use-chat.md'), 'utf8')).toContain(component)
  })

  it('goes on in the middle of a sentence after a reload', async () => {
    const made = await open()
    const { page, cue, end, client } = made
    await answering(made, 'Once upon ')
    cue((ctx) => ctx.say('a '))
    await answer(page, 'Once upon a ')
    await page.reload()
    await answer(page, 'Once upon a ')
    await status(page, 'streaming')
    cue((ctx) => ctx.say('time.'))
    end()
    await answer(page, 'Once upon a time.')
    await status(page, 'ready')
    expect(await shown(page)).toEqual(['Hi', 'Once upon a time.'])
    expect((await client.list({ thread: 't' })).tasks).toHaveLength(1)
  })

  it('cancels the run on the server when a person stops it, and shows what was said after a reload', async () => {
    const made = await open()
    const { page, client } = made
    await answering(made, 'Once upon ')
    await page.getByRole('button', { name: 'Stop' }).click()
    await status(page, 'ready')
    const { id } = await runOf(made)
    await expect.poll(() => client.get(id)).toMatchObject({ status: 'cancelled', partial: true })
    await page.reload()
    await page.locator('p[data-finish=cancelled]').waitFor()
    expect(await shown(page)).toEqual(['Hi', 'Once upon '])
    await status(page, 'ready')
  })

  it('stops a run that it found after a reload', async () => {
    const made = await open()
    const { page, client } = made
    await answering(made, 'Once upon ')
    await page.reload()
    await status(page, 'streaming')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('p[data-finish=cancelled]').waitFor()
    expect(await client.get((await runOf(made)).id)).toMatchObject({ status: 'cancelled' })
  })

  it('leaves the run alone when the component goes, and shows it when it comes back', async () => {
    const made = await open()
    const { page, cue, end, client } = made
    await answering(made, 'Once upon ')
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.locator('main').waitFor({ state: 'detached' })
    const run = await runOf(made)
    expect(run.status).toBe('running')
    expect(run).not.toHaveProperty('cancelRequestedAt')
    cue((ctx) => ctx.say('a time'))
    await page.getByRole('button', { name: 'Come back' }).click()
    await answer(page, 'Once upon a time')
    end()
    await status(page, 'ready')
    expect(await client.get(run.id)).toMatchObject({ status: 'completed' })
    expect(await shown(page)).toEqual(['Hi', 'Once upon a time'])
  })

  it('leaves the run alone when its tab is closed', async () => {
    const made = await open()
    await answering(made, 'Once upon ')
    await made.page.close()
    made.cue((ctx) => ctx.say('a time.'))
    made.end()
    expect(await made.client.wait((await runOf(made)).id)).toMatchObject({ status: 'completed' })
    const { messages } = await made.client.snapshot('t')
    expect(messages.at(-1)).toMatchObject({ parts: [{ type: 'text', text: 'Once upon a time.' }], finish: 'end_turn' })
  })

  it('goes on by itself after it was offline, without a word twice or missing', async () => {
    const made = await open()
    const { page, cue, end } = made
    await answering(made, 'Once ')
    await page.context().setOffline(true)
    cue(
      (ctx) => ctx.say('upon '),
      (ctx) => ctx.say('a '),
    )
    await page.context().setOffline(false)
    cue((ctx) => ctx.say('time.'))
    end()
    await answer(page, 'Once upon a time.')
    await status(page, 'ready')
  })
})
