import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible } from './harness/axe.ts'
import { withBrowser } from './harness/browser.ts'
import { openConsole, phone } from './harness/console.ts'
import { refusals } from './harness/problems.ts'

withBrowser()

const row = (page: Page, id: string) => page.locator(`[data-task="${id}"]`)
const rows = (page: Page) => page.locator('[data-task]')

const brokenProblem = JSON.stringify({
  type: 'about:blank',
  title: 'x',
  status: 500,
  code: 'internal_error',
  detail: 'It broke',
  requestId: 'r-17',
})

describe('the list of tasks', () => {
  it('shows roots as they are now, with all that is to be known of them', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    await page.getByText('Nothing has been run yet').waitFor()
    const script = [{ spawn: { script: [{ hang: true }] } }, { say: 'Reading ' }, { say: 'page one' }, { hang: true }]
    const id = await run('papers', script, { description: 'Read the papers' })
    const line = row(page, id)
    await line.filter({ hasText: 'Read the papers' }).filter({ hasText: 'running' }).waitFor()
    await line.filter({ hasText: 'script' }).filter({ hasText: 'papers' }).filter({ hasText: id }).waitFor()
    await line.filter({ hasText: '1 running / 1' }).filter({ hasText: '“Reading page one”' }).waitFor()
    expect(await rows(page).count()).toBe(1)
    await expect.poll(() => page.getByRole('main').locator('header p').textContent()).toBe('1 running 1 task')
    await line.getByRole('button', { name: /^Unfold/ }).click()
    await rows(page).nth(1).waitFor()
    expect(await rows(page).nth(1).getAttribute('aria-level')).toBe('2')
    // Only a task below another has a parent to go to.
    const up = page.getByRole('dialog', { name: 'Keys' }).getByText('To the parent')
    for (const [place, count] of [0, 1].entries()) {
      await rows(page).nth(place).focus()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).getByText('Open the task').waitFor()
      await expect.poll(() => up.count()).toBe(count)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
    }
  })

  it('shows for which tasks a person is awaited, also when it is a task below that asks', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const ask = { ask: { text: 'Deploy?', options: ['Yes'] } }
    const deep = { spawn: { script: [{ spawn: { script: [ask], wait: true } }], wait: true } }
    const [direct, above, other] = [await run('a', [ask]), await run('b', [deep]), await run('c', [{ hang: true }])]
    await row(page, direct).getByText('asks you').waitFor()
    await row(page, above).getByText('asks you').waitFor()
    await row(page, other).waitFor()
    expect(await page.getByText('asks you').count()).toBe(2)
    await expectAccessible(page)
    await page.goto(page.url().replace('/tasks', '/threads/a'))
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByText('answered by alice').waitFor()
    await page.goBack()
    await row(page, above).getByText('asks you').waitFor()
    await row(page, direct).getByText('asks you').waitFor({ state: 'detached' })
  })

  it('changes in place when a task ends', async () => {
    const { page, run, server } = await openConsole({ path: '/tasks' })
    const id = await run('t', [{ receive: {} }, { fail: 'the disk is full' }])
    await row(page, id).locator('[data-status=running]').waitFor()
    await server.request('POST', `/v1/tasks/${id}/messages`, { body: { content: 'go' } })
    await row(page, id).locator('[data-status=failed]').waitFor()
    await row(page, id).getByText('the disk is full').waitFor()
  })

  it('keeps new tasks behind a pill while it is scrolled', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    for (let count = 0; count < 40; count += 1) await run(`t${count}`, [{ say: 'x' }])
    await page.goto(page.url())
    await rows(page).first().waitFor()
    const grid = page.getByRole('treegrid')
    await grid.hover()
    await page.mouse.wheel(0, 600)
    await page.waitForFunction(() => document.querySelector('[role=treegrid]')?.scrollTop === 600)
    const first = await rows(page).first().getAttribute('data-task')
    const before = await grid.evaluate((element) => element.scrollTop)
    const newest = [await run('n1', [{ say: 'x' }]), await run('n2', [{ say: 'x' }])]
    const pill = page.getByRole('button', { name: '2 new' })
    await pill.waitFor()
    expect(await rows(page).first().getAttribute('data-task')).toBe(first)
    expect(await grid.evaluate((element) => element.scrollTop)).toBe(before)
    await pill.click()
    await row(page, newest[1] ?? '').waitFor()
    await pill.waitFor({ state: 'detached' })
  })

  it('is filtered by chips that are kept in the address', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const good = await run('a', [{ say: 'x' }], { description: 'Index the mail' })
    const bad = await run('b', [{ fail: 'no' }], { description: 'Index the files' })
    await row(page, bad).locator('[data-status=failed]').waitFor()
    await page.getByRole('button', { name: 'failed' }).click()
    await row(page, good).waitFor({ state: 'detached' })
    await page.waitForURL('**status=failed**')
    await page.reload()
    await row(page, bad).waitFor()
    expect(await rows(page).count()).toBe(1)
    const counts = page.getByRole('main').locator('header p')
    await expect.poll(() => counts.textContent()).toBe('1 task')
    await page.getByLabel('Filter by text or id').fill('mail')
    await page.getByText('No task matches these filters').waitFor()
    await expect.poll(() => counts.textContent()).toBe('0 tasks')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await row(page, good).waitFor()
    await page.getByRole('button', { name: 'Thread' }).click()
    await page.getByRole('menuitem', { name: 'b' }).click()
    await row(page, good).waitFor({ state: 'detached' })
    await page.waitForURL('**thread=b**')
    await page.getByRole('button', { name: 'Remove thread b' }).click()
    await row(page, good).waitFor()
  })

  it('cancels what is selected, with all its children, after asking', async () => {
    const { page, run, server } = await openConsole({ path: '/tasks' })
    const tree = await run('a', [{ spawn: { script: [{ hang: true }] } }, { hang: true }])
    const lone = await run('b', [{ hang: true }])
    await row(page, tree).getByText('1 running / 1').waitFor()
    await row(page, tree).getByRole('checkbox').check()
    await row(page, lone).getByRole('checkbox').check()
    await page.getByRole('button', { name: 'Cancel 2 running' }).click()
    await page.getByRole('dialog', { name: 'Cancel 2 tasks?' }).getByLabel('Reason, if you like').fill('too late')
    await page.getByRole('button', { name: 'Cancel 2 trees' }).click()
    await row(page, tree).locator('[data-status=cancelled]').waitFor()
    await row(page, lone).locator('[data-status=cancelled]').waitFor()
    const { body } = await server.request<{ tasks: { status: string }[] }>('GET', '/v1/tasks')
    expect(body.tasks.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })

  it('gives the focus to where the keys are though it changes before the next frame', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const id = await run('a', [{ hang: true }])
    await row(page, id).waitFor()
    await page.evaluate(() => {
      const held = new Map<number, FrameRequestCallback>()
      const { requestAnimationFrame } = window
      let last = 0
      window.requestAnimationFrame = (frame) => {
        last += 1
        held.set(last, frame)
        return last
      }
      window.cancelAnimationFrame = (number) => void held.delete(number)
      document.addEventListener('frames', () => {
        window.requestAnimationFrame = requestAnimationFrame
        for (const frame of held.values()) frame(0)
      })
    })
    await page.keyboard.press('j')
    const later = await run('b', [{ hang: true }])
    await row(page, later).waitFor()
    await page.evaluate(() => document.dispatchEvent(new Event('frames')))
    await page.locator(`[data-task="${id}"]:focus`).waitFor()
  })

  it('is walked, selected, cancelled and opened by keys alone', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const older = await run('a', [{ hang: true }])
    const newer = await run('b', [{ say: 'x' }])
    await row(page, older).waitFor()
    await row(page, newer).waitFor()
    await page.keyboard.press('j')
    await page.locator(`[data-task="${newer}"]:focus`).waitFor()
    await page.keyboard.press('j')
    await page.locator(`[data-task="${older}"]:focus`).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('dialog', { name: `Cancel task ${older}?` }).waitFor()
    await page.getByRole('button', { name: 'Cancel this tree' }).focus()
    await page.keyboard.press('Enter')
    await row(page, older).locator('[data-status=cancelled]').waitFor()
    // What is behind a dialog takes no focus.
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.locator(`[data-task="${older}"]`).focus()
    await page.keyboard.press('k')
    await page.locator(`[data-task="${newer}"]:focus`).waitFor()
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('y')
    await page.getByText('Copied: link').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`/console/tasks/${newer}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/tasks/${newer}`)
  })

  it('shows what models write as text, whatever it is', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const hostile = '<img src=x onerror=alert(1)> \u001b[31mred\u001b[0m \u202Egnp.exe'
    const id = await run('t', [{ fail: hostile }], { description: hostile })
    await row(page, id).locator('[data-status=failed]').waitFor()
    const text = await row(page, id).innerText()
    expect(text).toContain('<img src=x onerror=alert(1)> red')
    expect(text).not.toContain('\u001b')
    expect(text).not.toContain('\u202e')
    expect(await page.locator('img').count()).toBe(0)
  })

  it('says what went wrong, with the request, and tries again', async () => {
    const { page, goto } = await openConsole({ allowed: refusals })
    await page.route('**/v1/tasks?*', (route) =>
      route.fulfill({ status: 500, contentType: 'application/problem+json', body: brokenProblem }),
    )
    await goto('/tasks')
    await page.getByText('The list of tasks could not be shown').waitFor()
    await page.getByText('Request r-17').waitFor()
    await page.unroute('**/v1/tasks?*')
    // It also tries again by itself, maybe before the button is reached.
    const there = page.getByText('Nothing has been run yet').waitFor()
    await Promise.any([there, page.getByRole('button', { name: 'Try again' }).click()])
    await there
  })

  it('asks once for older tasks that are refused, says why, and asks again when it is told to', async () => {
    const { page, run, goto } = await openConsole({ allowed: refusals })
    for (let count = 0; count < 110; count += 1) await run(`t${count}`, [{ say: 'x' }])
    let asked = 0
    await page.route('**/v1/tasks?*cursor=*', (route) => {
      asked += 1
      return route.fulfill({ status: 500, contentType: 'application/problem+json', body: brokenProblem })
    })
    await goto('/tasks')
    await rows(page).first().waitFor()
    await page.keyboard.press('j')
    await page.getByRole('treegrid').evaluate((grid) => grid.scrollTo({ top: grid.scrollHeight }))
    await page.getByRole('alert').filter({ hasText: 'Not up to date: It broke' }).waitFor()
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 })))
    expect(asked).toBe(1)
    await page.unroute('**/v1/tasks?*cursor=*')
    // The row at which the keys are is out of sight; they still find into the list.
    expect(await page.getByRole('treegrid').getAttribute('tabindex')).toBe('0')
    await page.getByRole('button', { name: 'Load older tasks' }).click()
    await page.getByText('110 tasks').waitFor()
    await page.getByRole('alert').waitFor({ state: 'detached' })
  })

  it('says that there are more children than it has read, and reads on', async () => {
    const { page, run } = await openConsole({ path: '/tasks' })
    const children = Array.from({ length: 105 }, (_, at) => ({ spawn: { script: [{ say: 'x' }], name: `c${at}` } }))
    const id = await run('many', children)
    await row(page, id).locator('[data-status=completed]').waitFor()
    await page.reload()
    await row(page, id).getByText('100+').waitFor()
    await row(page, id)
      .getByRole('button', { name: /^Unfold/ })
      .click()
    await row(page, id).getByRole('button', { name: 'more' }).click()
    await row(page, id).getByText('105', { exact: true }).waitFor()
    expect(await row(page, id).getAttribute('aria-expanded')).toBe('true')
    expect(await rows(page).nth(1).getAttribute('aria-expanded')).toBe(null)
  })

  it.each(['light', 'dark'] as const)('keeps nobody from using it in the %s theme', async (theme) => {
    const { page, run } = await openConsole({ path: '/tasks', theme })
    for (const script of [[{ hang: true }], [{ fail: 'no' }], [{ say: 'x' }]]) await run('t', script)
    await run('u', [{ fail: 'no' }])
    await row(page, 'bg_3').locator('[data-status=failed]').waitFor()
    await row(page, 'bg_3').getByRole('checkbox').check()
    await expectAccessible(page)
    await page.setViewportSize(phone)
    await expectAccessible(page)
  })
})
