import type { WebSocket } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { localServer } from '../server/harness/local-server.ts'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsole, phone } from './harness/console.ts'
import { localConsole } from './harness/local-console.ts'
import { refusals } from './harness/problems.ts'

withBrowser()

describe('a login', () => {
  it('by the link works once, and leaves no code in the address', async () => {
    const { server } = await localServer()
    const code = server.newLoginCode('owner')
    const page = await localConsole(server, { isLoggedIn: false, path: `#login=${code}`, allowed: refusals })
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    expect(page.url()).not.toContain(code)
    await page.context().clearCookies()
    await page.goto(`${server.url}/console/?again#login=${code}`)
    await page.getByRole('alert').filter({ hasText: 'That login link was used' }).waitFor()
  })

  it('by the link comes to what runs, if anything does', async () => {
    const { server, run } = await localServer()
    await run('busy', [{ say: 'At work' }, { hang: true }])
    const path = `#login=${server.newLoginCode('owner')}`
    const page = await localConsole(server, { isLoggedIn: false, path, allowed: refusals })
    await page.waitForURL('**/console/threads/busy')
    await page.getByText('At work').first().waitFor()
  })

  it('by the link works in a page that is open already', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { isLoggedIn: false, allowed: refusals })
    await page.getByLabel('Token').waitFor()
    await page.goto(`${server.url}/console#login=${server.newLoginCode('owner')}`)
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  it('by a link that is none says so', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { isLoggedIn: false, path: '#login=%', allowed: refusals })
    await page.getByRole('alert').filter({ hasText: 'That login link was used' }).waitFor()
  })

  it('that is over takes what was written here with it', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { path: '/threads/t', allowed: refusals })
    await page.getByRole('textbox', { name: 'Prompt' }).fill('half a thought')
    await page.evaluate(() => localStorage.setItem('holdfast.theme', 'dark'))
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Find a command').fill('Log out')
    await page.keyboard.press('Enter')
    await page.getByLabel('Token').waitFor()
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual(['holdfast.theme'])
  })

  it('that the server no longer knows is told where something is shown already', async () => {
    const { server, run } = await localServer()
    const id = await run('t', [{ hang: true }])
    const page = await localConsole(server, { path: `/tasks/${id}`, allowed: refusals })
    const pill = page.locator('[data-connection]').first()
    await pill.filter({ hasText: 'Live' }).waitFor()
    await page.getByText('running').first().waitFor()
    await server.close()
    await localServer({ port: server.port, tokens: { owner: 'another' } })
    const bar = page.getByRole('alert').filter({ hasText: 'Not up to date' })
    await bar.getByText('Your login is over. Log in again').waitFor()
    await pill.filter({ hasText: /^Offline/ }).waitFor()
    // Only a login can bring it back.
    expect(await page.getByRole('button', { name: 'Try now' }).count()).toBe(0)
    await bar.getByRole('button', { name: 'Log in' }).click()
    await page.getByLabel('Token').waitFor()
  })

  it('by a token is asked for, refused and taken', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { isLoggedIn: false, path: '/tasks', allowed: refusals })
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('alert').filter({ hasText: 'That token is not known here.' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Token').fill('secret')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(
      'secret',
    )
  })
})

describe('the shell', () => {
  it('leads everywhere by its rail and by keys, but not while somebody types', async () => {
    const { page } = await openConsole({ path: '/tasks' })
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'System' }).click()
    await page.waitForURL('**/console/system')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL('**/console/threads')
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.waitForURL('**/console/tasks')
    const field = page.getByLabel('Filter by text or id')
    await field.waitFor()
    await page.keyboard.press('/')
    await field.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('g h')
    expect(await field.inputValue()).toBe('g h')
    await page.waitForURL('**/console/tasks?text=g+h')
  })

  it('says whether it is live, and since when it is not', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { allowed: refusals })
    const pill = page.locator('[data-connection]').first()
    await pill.filter({ hasText: 'Live' }).waitFor()
    await page.context().setOffline(true)
    await pill.filter({ hasText: /^Offline, as of \d\d:\d\d:\d\d$/ }).waitFor()
    await page.context().setOffline(false)
    await pill.filter({ hasText: 'Live' }).waitFor()
    await server.close()
    await pill.filter({ hasText: /^Reconnecting( in \d+ s|…)$/ }).waitFor()
    await localServer({ port: server.port })
    await pill.filter({ hasText: 'Live' }).waitFor()
  })

  it('tries at once to come back when it is asked to', async () => {
    const { server } = await localServer()
    const page = await localConsole(server, { allowed: refusals })
    await page.clock.install()
    await page.reload()
    const pill = page.locator('[data-connection]').first()
    await pill.filter({ hasText: 'Live' }).waitFor()
    await server.close()
    await pill.filter({ hasText: /^Reconnecting/ }).waitFor()
    // Its time stands still, so that it does not come back by itself.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 30_000)
    await pill.filter({ hasText: /^Reconnecting in \d+ s$/ }).waitFor()
    await localServer({ port: server.port })
    await page.getByRole('button', { name: 'Try now' }).first().click()
    await pill.filter({ hasText: 'Live' }).waitFor()
  })

  it('follows many logs again when a WebSocket opens after all', async () => {
    const { server, run } = await localServer()
    await run('t', [{ say: 'at work' }, { hang: true }])
    const page = await localConsole(server, { path: '/tasks' })
    await page.addInitScript(() => {
      Object.assign(globalThis, {
        WebSocket: class extends WebSocket {
          constructor(url: string, protocols: string[]) {
            if (!Object.hasOwn(globalThis, 'hasSockets')) throw new Error('None comes through')
            super(url, protocols)
          }
        },
      })
    })
    const fellBack = page.waitForRequest(/\/v1\/events/)
    await page.reload()
    await fellBack
    await page.locator('[data-connection=live]').first().waitFor()
    const words = page.getByText('“at work”')
    await words.waitFor({ state: 'hidden' })
    await page.evaluate(() => {
      Object.assign(globalThis, { hasSockets: true })
      dispatchEvent(new Event('online'))
    })
    await words.first().waitFor()
  })

  it.each(['/agents', '/agents/script', '/nowhere'])('says so at %s, whose view follows nothing', async (path) => {
    const { server } = await localServer()
    const page = await localConsole(server, { path, allowed: refusals })
    const pill = page.locator('[data-connection]').first()
    await pill.filter({ hasText: 'Live' }).waitFor()
    await server.close()
    await pill.filter({ hasText: /^Reconnecting/ }).waitFor()
  })

  it('has one connection, wherever one goes', async () => {
    const { server, run } = await localServer()
    await run('t', [{ say: 'at work' }, { hang: true }])
    const page = await localConsole(server)
    // A page that is left does not always tell that its connection is closed, so the one of this page is not counted.
    await page.locator('[data-connection=live]').first().waitFor()
    let count = 0
    const open = new Set<WebSocket>()
    page.on('websocket', (socket) => {
      count += 1
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    })
    await page.goto(`${server.url}/console/agents/script`)
    await page.getByRole('heading', { name: 'script' }).waitFor()
    await expect.poll(() => open.size).toBe(1)
    const before = count
    for (const name of ['System', 'Agents', 'Tasks', 'Threads']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { name }).waitFor()
    }
    await page.locator('[data-thread=t]').getByRole('link').click()
    await page.getByText('at work', { exact: true }).waitFor()
    expect([open.size, count]).toEqual([1, before])
  })

  it('keeps a chosen theme over a reload, and follows the system without one', async () => {
    const { page } = await openConsole({ path: '/tasks', theme: 'dark' })
    const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const dark = await scheme()
    await page
      .getByRole('button', { name: /^Theme/ })
      .first()
      .click()
    await expect.poll(scheme).not.toBe(dark)
    await page.reload()
    await page.getByRole('button', { name: 'Theme: light' }).first().waitFor()
    await expect.poll(scheme).not.toBe(dark)
    await page.getByRole('button', { name: 'Theme: light' }).first().click()
    await page.getByRole('button', { name: 'Theme: dark' }).first().click()
    await page.getByRole('button', { name: 'Theme: as the system' }).first().waitFor()
    await expect.poll(scheme).toBe(dark)
  })

  it('works under a base path, at every address', async () => {
    const { server, run } = await localServer({ basePath: '/tools/holdfast' })
    const id = await run('t', [{ say: 'under a path' }])
    const page = await localConsole(server, { path: `/tasks/${id}` })
    await page.getByText('under a path').first().waitFor()
    await page.keyboard.press('u')
    await page.waitForURL('**/tools/holdfast/console/tasks')
    await page.locator(`[data-task="${id}"]`).waitFor()
    await page.locator('[data-connection=live]').first().waitFor()
  })

  it('says that a view broke, and leads away from it', async () => {
    const { page, goto } = await openConsole({ allowed: [/./] })
    await page.route('**/v1/agents', (route) => route.fulfill({ json: { agents: [null] } }))
    await goto('/threads/t')
    await page.getByRole('heading', { name: 'This view broke' }).waitFor()
    await page.getByRole('button', { name: 'Reload' }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'System' }).click()
    await page.getByText('queuedRunsPerThread').waitFor()
  })

  it('says that there is no such page', async () => {
    const { page } = await openConsole({ path: '/nowhere/at/all' })
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor()
    await page.getByText('Nothing of the console is at this address.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'See all tasks' }).waitFor()
  })

  it('has its way around at the bottom of a phone', async () => {
    const { page } = await openConsole({ path: '/tasks', viewport: phone })
    const box = await page.getByRole('navigation', { name: 'Main' }).boundingBox()
    expect(box?.y).toBeGreaterThan(phone.height - 80)
    await page.getByRole('banner').getByText('Holdfast').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(phone.width)
  })

  it('moves nothing for whoever wants no motion', async () => {
    const { page, run } = await openConsole({ path: '/tasks', reducedMotion: 'reduce' })
    await run('t', [{ hang: true }])
    await page.locator('[data-task] [data-status=running]').waitFor()
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  })
})
