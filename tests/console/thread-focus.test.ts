import { describe, expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf } from './harness/console.ts'
import { refusals } from './harness/problems.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()

async function open(thread: string, script: readonly object[]) {
  const here = await openConsoleOf(server(), { allowed: [...refusals, /ERR_|net::/] })
  await here.run(thread, script)
  await here.goto(`/threads/${thread}`)
  const { page } = here
  await page.getByLabel('Run of script').getByText('at work').first().waitFor()
  return { ...here, input: page.getByRole('textbox', { name: 'Prompt' }), focused: page.locator(':focus') }
}

const hanging = [{ say: 'at work' }, { hang: true }]

describe('a draft', () => {
  it('is gone on with at its end, after a reload', async () => {
    const { page, input } = await open('caret', hanging)
    await input.fill('kept draft')
    await page.reload()
    await page.getByLabel('Run of script').getByText('at work').waitFor()
    await page.keyboard.press('m')
    await page.keyboard.type(', and more')
    expect(await input.inputValue()).toBe('kept draft, and more')
  })

  it('is the same in two tabs, and in neither when it is sent', async () => {
    const { page, input, tab } = await open('drafts', hanging)
    const other = await tab('/threads/drafts')
    const otherInput = other.getByRole('textbox', { name: 'Prompt' })
    await otherInput.waitFor()
    await input.fill('said once')
    await expect.poll(() => otherInput.inputValue()).toBe('said once')
    await page.getByRole('button', { name: 'Queue next' }).click()
    await expect.poll(() => otherInput.inputValue()).toBe('')
  })

  it('of a message to a task is gone on with at its end', async () => {
    const { page, run, goto } = await openConsoleOf(server())
    await goto(`/tasks/${await run('message', hanging)}`)
    const message = page.getByRole('textbox', { name: 'Message' })
    await page.getByRole('button', { name: 'Send message' }).click()
    await message.fill('half')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Send message' }).click()
    await page.keyboard.type(' and half')
    expect(await message.inputValue()).toBe('half and half')
  })

  it('that the server was not there for is kept; that is said until it is there again', async () => {
    const { page, context, input } = await open('away', hanging)
    await context.setOffline(true)
    await page
      .getByText(/^(Offline|Reconnecting)/)
      .first()
      .waitFor()
    await input.fill('keep me')
    await input.press('Enter')
    await page.getByRole('button', { name: 'Sending…' }).waitFor()
    await page.getByRole('alert').getByText('Your message is kept here, and can be sent again.').waitFor()
    await context.setOffline(false)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await input.inputValue()).toBe('keep me')
  })
})

describe('the focus', () => {
  it('stays on a question that is answered', async () => {
    const ask = { ask: { text: 'Which way?', options: ['left'] } }
    const { page, focused } = await open('focus-answer', [{ say: 'at work.' }, ask, { say: 'On.' }, { hang: true }])
    await page.getByRole('button', { name: 'left' }).click()
    await page.getByText('answered by alice').waitFor()
    await focused.and(page.locator('[data-question]')).waitFor()
  })

  it('goes to what can be withdrawn next, and then to the prompt', async () => {
    const { page, input, focused } = await open('focus-withdraw', hanging)
    for (const text of ['one', 'two']) {
      await input.fill(text)
      await page.getByRole('button', { name: 'Queue next' }).click()
      await page.getByRole('button', { name: `Withdraw: ${text}` }).waitFor()
    }
    await page.getByRole('button', { name: 'Withdraw: one' }).click()
    await focused.and(page.getByRole('button', { name: 'Withdraw: two' })).waitFor()
    await page.keyboard.press('Enter')
    await focused.and(input).waitFor()
  })

  it('goes to the prompt when a run is stopped', async () => {
    const { page, input, focused } = await open('focus-stop', hanging)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('[data-ending=Cancelled]').waitFor()
    await focused.and(input).waitFor()
  })
})
