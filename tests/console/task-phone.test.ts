import { expect, it } from 'vitest'
import { withBrowser } from './harness/browser.ts'
import { openConsoleOf, phone } from './harness/console.ts'
import { withServer } from './harness/shared-server.ts'

withBrowser()
const server = withServer()
const onPhone = { viewport: phone, isTouched: true } as const

it('an event that is unfolded on a phone tells when it was, and can be copied', async () => {
  const { page, run, goto } = await openConsoleOf(server(), onPhone)
  const id = await run('phone-event', [{ emit: 'noted' }])
  await goto(`/tasks/${id}?tab=events`)
  const log = page.getByRole('log')
  const row = log.getByRole('button', { name: /noted/ })
  await row.click()
  await log
    .getByText(/^\d{2}:\d{2}:\d{2}\.\d{3}/)
    .filter({ visible: true })
    .waitFor()
  const copy = log.getByRole('button', { name: /^Copy event/ })
  expect(await copy.evaluate((button) => getComputedStyle(button).opacity)).toBe('1')
})

it('an event that is unfolded leaves others in sight, however much is in it', async () => {
  const { page, run, goto } = await openConsoleOf(server(), onPhone)
  const output = Array.from({ length: 300 }, (_, place) => ({ place }))
  const id = await run('phone-huge', [{ tool: 'search', input: {}, output }])
  await goto(`/tasks/${id}?tab=events`)
  const log = page.getByRole('log')
  await log.getByRole('button', { name: /tool\.result/ }).click()
  const text = log.locator('pre')
  await text.waitFor()
  const { height: room = 0 } = (await log.boundingBox()) ?? {}
  expect((await text.boundingBox())?.height).toBeLessThan(room * 0.75)
})

it('what a task has spawned is named on a phone in as many words as two lines take', async () => {
  const { page, run, goto } = await openConsoleOf(server(), onPhone)
  const description = 'Read the reports of the last four quarters and compare them'
  const id = await run('phone-children', [{ hang: true }])
  const child = { agent: 'script', input: { script: [{ return: 1 }] }, parent: id, description }
  await server().request('POST', '/v1/threads/phone-children/tasks', { body: child })
  await goto(`/tasks/${id}`)
  const name = page.getByRole('link', { name: description }).getByText(description)
  await name.waitFor()
  const isWhole = await name.evaluate((text) => text.scrollHeight <= text.clientHeight && text.clientWidth > 250)
  expect(isWhole).toBe(true)
})
