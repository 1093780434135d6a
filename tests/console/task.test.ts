import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsole, openConsoleOf, phone } from './harness/console.ts'
import { refusals } from './harness/problems.ts'

withBrowser()

const status = (page: Page, word: string) => page.locator(`header [data-status=${word}]`)
const failing = [
  {
    spawn: {
      script: [{ spawn: { script: [{ fail: 'no space left' }], name: 'disk', wait: true } }, { fail: 'disk failed' }],
      name: 'copy',
      wait: true,
    },
  },
  { fail: 'copy failed' },
]

describe('a task', () => {
  it('says where it comes from, how it is, and how long it waited and ran', async () => {
    const { page, run, goto } = await openConsole()
    const root = await run('t', [{ spawn: { script: [{ hang: true }], name: 'reader' } }, { hang: true }], {
      description: 'Read all',
    })
    await goto(`/tasks/${root}`)
    await page.getByRole('link', { name: /reader/ }).click()
    const trail = page.getByRole('navigation', { name: 'Where it comes from' })
    await trail.getByRole('link', { name: 'Read all' }).waitFor()
    await page.getByRole('heading', { name: 'reader', level: 1 }).waitFor()
    await status(page, 'running').waitFor()
    for (const fact of ['Attempt', 'Queued', 'Running']) await page.locator('dt', { hasText: fact }).first().waitFor()
    await page.keyboard.press('u')
    await page.waitForURL(`**/tasks/${root}`)
  })

  it('shows its result first', async () => {
    const { page, run, goto } = await openConsole()
    await goto(`/tasks/${await run('t', [{ return: { pages: 12, title: '<b>bold</b>' } }])}`)
    await page.getByRole('region', { name: 'Result' }).getByText('"title": "<b>bold</b>"').waitFor()
    expect(await page.locator('b').count()).toBe(0)
  })

  it('that is cancelled says so at once, and then that it was forced', async () => {
    const { page, run, goto } = await openConsole({ env: { HOLDFAST_GRACE_MS: '6000' } })
    const id = await run('t', [{ spawn: { script: [{ hang: true }] } }, { hang: 'hard' }])
    await goto(`/tasks/${id}`)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel this tree' }).click()
    await status(page, 'cancelling').waitFor()
    await page.getByRole('button', { name: 'cancelling…' }).waitFor()
    await status(page, 'cancelled').waitFor()
    await page.getByText('was cut off after its grace time').waitFor()
    expect(await page.getByRole('list').filter({ hasText: 'cancelled' }).count()).toBe(1)
  })

  it('is written to, and shows what it was sent', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', [{ receive: {} }, { say: 'thanks' }])
    await goto(`/tasks/${id}`)
    await status(page, 'running').waitFor()
    await page.keyboard.press('m')
    await page.getByRole('textbox', { name: 'Message' }).fill('look at page 4')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('region', { name: 'Inbox' }).getByText('look at page 4').waitFor()
    await status(page, 'completed').waitFor()
  })

  it('is sent a message once, however often it is asked to, and never an empty one', async () => {
    const { page, run, goto } = await openConsole()
    await goto(`/tasks/${await run('t', [{ receive: {} }, { hang: true }])}`)
    await status(page, 'running').waitFor()
    const sent: (() => Promise<void>)[] = []
    await page.route('**/v1/tasks/*/messages', (route) => void sent.push(() => route.continue()))
    await page.keyboard.press('m')
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('  ')
    await page.keyboard.press('Control+Enter')
    await field.fill('only once')
    await page.keyboard.press('Control+Enter')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator(':disabled')).waitFor()
    await expect.poll(() => sent.length).toBeGreaterThan(0)
    for (const go of sent) await go()
    await page.getByRole('region', { name: 'Inbox' }).getByText('only once').waitFor()
    expect(sent).toHaveLength(1)
  })

  it('that asks is answered where it is shown, also from above', async () => {
    const { page, run, goto } = await openConsole()
    const ask = { ask: { text: 'Deploy?', options: ['Yes', 'No'] } }
    const id = await run('t', [{ spawn: { script: [ask], name: 'deployer', wait: true } }, { say: 'done' }])
    await goto(`/tasks/${id}`)
    await page.getByRole('button', { name: 'Yes' }).click()
    await status(page, 'completed').waitFor()
    await page.locator('[data-question]').waitFor({ state: 'detached' })
  })

  it('is copied as id, link, curl, command and JSON', async () => {
    const { page, run, goto, server } = await openConsole()
    const id = await run('t', [{ say: 'x' }])
    await goto(`/tasks/${id}`)
    await status(page, 'completed').waitFor()
    const copied = async (title: string) => {
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('menuitem', { name: title }).click()
      await page.getByText(`Copied: ${title}`).last().waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await copied('Id')).toBe(id)
    expect(await copied('Link')).toBe(`${server.url}/console/tasks/${id}`)
    expect(await copied('curl')).toContain(`${server.url}/v1/tasks/${id}`)
    expect(await copied('CLI')).toBe(`holdfast --url ${server.url} logs ${id} --follow`)
    expect(JSON.parse(await copied('JSON'))).toMatchObject({ id, status: 'completed' })
  })

  it('that failed opens on where it failed', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', failing)
    await goto(`/tasks/${id}`)
    const leaf = page.getByRole('region', { name: 'Where it failed' })
    await leaf.getByText('agent_error: no space left').waitFor()
    await page.keyboard.press('2')
    await page.locator('[aria-current=true]').filter({ hasText: 'disk' }).waitFor()
    await page.keyboard.press('3')
    await page.getByRole('log').getByText('agent_error: no space left').waitFor()
    await page.keyboard.press('1')
    await leaf.getByRole('link', { name: 'disk' }).click()
    await page.getByRole('heading', { name: 'disk', level: 1 }).waitFor()
  })

  it('shows its whole tree over time, from where a task leads to its events', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', failing)
    await goto(`/tasks/${id}?tab=timeline`)
    const lines = page.getByRole('list', { name: 'Tasks of the tree' }).getByRole('button')
    const texts = () => lines.evaluateAll((all) => all.map((line) => line.textContent))
    await expect
      .poll(texts)
      .toEqual([
        expect.stringMatching(/^scriptfailed, queued \d.*, ran \d.*\. Show its events/),
        expect.stringMatching(/^copyfailed, /),
        expect.stringMatching(/^diskfailed, /),
      ])
    await lines.nth(1).click()
    await page.getByRole('log').getByText('disk failed').waitFor()
    await page.waitForURL(/tab=events&of=bg_1$/)
    await page.keyboard.press('y')
    await page.getByText('Copied: link').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
    await page.reload()
    await page.getByRole('log').getByText('disk failed').waitFor()
  })

  it('is found with where it comes from among many later ones, without reading through them', async () => {
    const { page, run, goto, server } = await openConsole({ allowed: refusals })
    const root = await run('busy', [{ spawn: { script: [{ say: 'x' }], name: 'reader' } }], { description: 'Read all' })
    const alone = await run('busy', [{ say: 'x' }])
    for (let count = 0; count < 105; count += 1) await run('busy', [{ say: 'x' }])
    const { body } = await server.request<{ tasks: { id: string }[] }>('GET', `/v1/tasks?parent=${root}`)
    let asked = 0
    await page.route('**/v1/tasks?*cursor=*', (route) => {
      asked += 1
      return route.fulfill({ status: 500, body: '' })
    })
    await goto(`/tasks/${alone}`)
    await status(page, 'completed').waitFor()
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 })))
    expect(asked).toBe(0)
    await goto(`/tasks/${root}`)
    await page.getByRole('link', { name: /reader/ }).waitFor()
    await page.getByText('Part of this tree is not shown').waitFor()
    expect(asked).toBe(1)
    await goto(`/tasks/${body.tasks[0]?.id}`)
    const trail = page.getByRole('navigation', { name: 'Where it comes from' })
    await trail.getByRole('link', { name: 'Read all' }).waitFor()
  })

  it('of another principal is not there, nor is one that never was', async () => {
    const { server, run } = await openConsole()
    const id = await run('t', [{ say: 'secret plan' }])
    const { page, goto } = await openConsoleOf(server, { as: 'bob', path: `/tasks/${id}`, allowed: refusals })
    await page.getByRole('heading', { name: 'There is no such task' }).waitFor()
    const text = await page.locator('main').innerText()
    await goto('/tasks/bg_999')
    await page.getByRole('heading', { name: 'There is no such task' }).waitFor()
    expect((await page.locator('main').innerText()).replace('bg_999', id)).toBe(text)
  })

  it.each(['light', 'dark'] as const)('keeps nobody from using it in the %s theme', async (theme) => {
    const { page, run, goto } = await openConsole({ theme })
    const script = [
      { ask: { text: 'Go on?', options: ['Yes'] } },
      { spawn: { script: [{ fail: 'no' }] } },
      { fail: 'it broke' },
    ]
    const id = await run('t', script)
    await goto(`/tasks/${id}`)
    await page.getByRole('heading', { name: 'Go on?' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Yes' }).click()
    await status(page, 'failed').waitFor()
    await page.getByText('it broke').first().waitFor()
    await expectAccessible(page)
    await page.keyboard.press('2')
    await page.getByRole('list', { name: 'Tasks of the tree' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('3')
    await page.getByRole('log').waitFor()
    await expectAccessible(page)
    await page.setViewportSize(phone)
    await expectAccessible(page)
  })
})

describe('the events of a task', () => {
  it('show a message that is too large for an event', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', [{ say: 'x'.repeat(300_000) }])
    await goto(`/tasks/${id}?tab=events`)
    await page.getByText('user: a message too large for an event').waitFor()
  })

  it('are unfolded, filtered and saved as NDJSON', async () => {
    const { page, run, goto } = await openConsole()
    const id = await run('t', [
      { say: 'one' },
      { tool: 'search', input: { q: 'kelp' }, output: 'found' },
      { progress: 0.5 },
    ])
    await goto(`/tasks/${id}?tab=events`)
    await status(page, 'completed').waitFor()
    const log = page.getByRole('log')
    await log.getByRole('button', { name: /tool\.call.*search/ }).click()
    await log.getByText('"q": "kelp"').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('tool.')
    await log.getByText('text.delta').waitFor({ state: 'detached' })
    await expect.poll(() => log.locator('[data-seq]').count()).toBe(2)
    await page.waitForURL('**text=tool.**')
    await page.getByLabel('Filter events').fill('nothing like it')
    await page.getByText('No event matches').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as NDJSON' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${id}.ndjson`)
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).type)).toContain('task.completed')
    expect(new Set(lines.map((line) => JSON.parse(line).task))).toEqual(new Set([id]))
  })

  it('of a whole tree are saved without those of other trees', async () => {
    const { page, run, goto } = await openConsole()
    const parent = [{ spawn: { script: [{ say: 'of the child' }], wait: true } }]
    const first = await run('t', parent)
    await run('t', parent)
    await goto(`/tasks/${first}?tab=events&of=tree`)
    await page.getByRole('log').getByText('of the child').first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as NDJSON' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${first}.ndjson`)
    const lines = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\n')
    const tasks = new Set(lines.map((line) => JSON.parse(line).task as string))
    expect(tasks.size).toBe(2)
    expect(tasks).toContain(first)
  })

  it('are followed until somebody scrolls away, and counted from then on', async () => {
    const { page, run, goto, server } = await openConsole()
    const id = await run('t', [
      { emit: 'tick', times: 200 },
      { receive: {} },
      { emit: 'tock', times: 25 },
      { hang: true },
    ])
    await goto(`/tasks/${id}?tab=events`)
    const log = page.getByRole('log')
    await log.getByText('"n":199').waitFor()
    await page.getByRole('button', { name: 'Following' }).waitFor()
    await log.hover()
    await page.mouse.wheel(0, -600)
    await page.getByRole('button', { name: 'Paused, 0 new' }).waitFor()
    await server.request('POST', `/v1/tasks/${id}/messages`, { body: { content: 'go' } })
    await page.getByRole('button', { name: 'Paused, 27 new' }).waitFor()
    expect(await log.getByText('tock').count()).toBe(0)
    await page.keyboard.press('f')
    await log.getByText('"n":24').waitFor()
    await page.getByRole('button', { name: 'Following' }).waitFor()
  })
})
