import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/index.ts'
import { localServer } from '../server/harness/local-server.ts'
import { expectAccessible } from './harness/axe.ts'
import { freshContext, withBrowser } from './harness/browser.ts'
import { phone } from './harness/console.ts'
import { refuseProblems } from './harness/problems.ts'

withBrowser()

const longWord = 'w'.repeat(100)
const wordy = z.string().optional().describe(longWord)
const agents = {
  research: agent({
    description: 'Looks into something',
    input: z.object({
      topic: z.string().refine((topic) => topic !== 'war', 'Not that topic'),
      depth: z.number().int().min(1).max(5).default(2),
      loud: z.boolean().optional(),
      tone: z.enum(['dry', 'warm']).optional(),
      tags: z.array(z.string()).optional(),
      place: z.object({ city: z.string() }).optional(),
    }),
    run: (_ctx, input) => input,
  }),
  wordy: agent({
    description: longWord,
    input: z.object({ [longWord]: wordy, place: z.object({ [longWord]: wordy }), [`${longWord}s`]: z.array(wordy) }),
    run: (_ctx, input) => input,
  }),
  booking: agent({
    version: '7',
    input: z.object({
      mail: z.email(),
      day: z.iso.date().optional(),
      site: z.url().optional(),
      code: z.string().max(8).optional(),
      letter: z.string().optional(),
      extra: z.record(z.string(), z.unknown()).optional(),
      guests: z.array(z.object({ name: z.string() })).optional(),
      room: z.object({ floor: z.string().optional() }).optional(),
    }),
    run: (_ctx, input) => input,
  }),
  plain: agent({ concurrency: 4, run: (ctx, input) => ctx.say(`You said ${JSON.stringify(input)}`) }),
}

async function open(path: string, options: Parameters<typeof freshContext>[0] = {}) {
  const { server, runtime } = await localServer({ agents })
  const context = await freshContext(options)
  await context.request.post(`${server.url}/v1/login`, { data: { token: 'secret' } })
  const page = await context.newPage()
  await refuseProblems(page, [/status of 422/])
  await page.goto(`${server.url}/console${path}`)
  return { page, runtime, server }
}

describe('an agent', () => {
  it('is asked by a form made from its schema, in a thread of choice, and the console goes there', async () => {
    const { page, runtime } = await open('/agents')
    await page.getByRole('link', { name: /plain.*at most 4 at once/ }).waitFor()
    await page.getByRole('link', { name: /research/ }).click()
    await page.getByLabel('topic').fill('owls')
    expect(await page.getByLabel('depth').inputValue()).toBe('2')
    await page.getByLabel('depth').fill('3')
    await page.getByLabel('loud').selectOption('No')
    await page.getByLabel('tone').selectOption('warm')
    await page.getByRole('group', { name: 'tags' }).getByRole('button', { name: 'Add' }).click()
    await page.getByRole('textbox', { name: 'tags 1' }).fill('night')
    await page.getByLabel('city').fill('Brno')
    await page.getByLabel('Thread').fill('birds')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/console/threads/birds')
    await page.getByLabel('Run of research').locator('[data-status=completed]').waitFor()
    const { tasks } = await runtime.list({ thread: 'birds' })
    const given = { topic: 'owls', depth: 3, loud: false, tone: 'warm', tags: ['night'], place: { city: 'Brno' } }
    expect(tasks.map(({ input }) => input)).toEqual([given])
  })

  it('is not asked while something is missing; what is wrong stands at its field', async () => {
    const { page, runtime } = await open('/agents/research')
    await page.getByLabel('depth').fill('nine')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('[data-fault="input.topic"]').waitFor()
    await page.locator('[data-fault="input.depth"]').waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('input.topic')
    expect((await runtime.list()).tasks).toEqual([])
  })

  it('that refuses an input says so at the field, in the words of the server', async () => {
    const { page } = await open('/agents/research')
    await page.getByLabel('topic').fill('war')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('[data-fault="input.topic"]').getByText('Not that topic').waitFor()
    await page.getByText(/^Request /).waitFor()
    await page.getByLabel('topic').fill('peace')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/console/threads/*')
  })

  it('has a control for what each field takes, and says what may be left out', async () => {
    const { page } = await open('/agents/booking')
    await page.getByText('version 7').waitFor()
    const controls = await page.getByRole('form').locator('[id^="input."]:is(input, textarea)').all()
    const types = controls.map((control) => control.evaluate(({ id, type }: HTMLInputElement) => `${id} ${type}`))
    expect(await Promise.all(types)).toEqual([
      'input.mail email',
      'input.day date',
      'input.site url',
      'input.code text',
      'input.letter textarea',
      'input.extra textarea',
      'input.room.floor textarea',
    ])
    await page.getByText('Written as JSON').waitFor()
    await page.getByRole('group', { name: 'room optional' }).waitFor()
    await page.getByRole('group', { name: 'guests optional' }).getByRole('button', { name: 'Add' }).click()
    await page.locator('[id="input.guests.0.name"]:focus').waitFor()
    await page.keyboard.type('Ada')
    await page.getByLabel('mail').fill('ada@example.org')
    await page.getByText('JSON', { exact: true }).click()
    const json = page.getByRole('textbox', { name: 'Input' })
    const filledIn = { mail: 'ada@example.org', guests: [{ name: 'Ada' }] }
    await expect.poll(async () => JSON.parse(await json.inputValue())).toEqual(filledIn)
    await json.fill('{"mail": "by hand"}')
    await page.getByText('Form', { exact: true }).click()
    await page.getByLabel('mail').fill('other@example.org')
    await page.getByText('JSON', { exact: true }).click()
    expect(await json.inputValue()).toBe('{"mail": "by hand"}')
  })

  it('without a schema is asked by a prompt, or by JSON', async () => {
    const { page } = await open('/agents/plain')
    await page.getByRole('textbox', { name: 'Prompt' }).fill('hello')
    await page.getByText('JSON').click()
    await page.getByRole('textbox', { name: 'Input' }).fill('{"a": ')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('[data-fault=input]').waitFor()
    await page.getByRole('textbox', { name: 'Input' }).fill('{"a": 1}')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('You said {"a":1}').waitFor()
  })

  it('keeps its form to the width of the page, however long a name in it is', async () => {
    const { page } = await open('/agents/wordy', { viewport: { width: 360, height: 800 } })
    const form = page.getByRole('form')
    await form.getByRole('button', { name: 'Add' }).click()
    await form.getByRole('button', { name: `Remove ${longWord}s 1` }).waitFor()
    const main = page.getByRole('main')
    const reach = await main.evaluate((view) =>
      Math.max(...[...view.querySelectorAll('p, form *')].map((part) => part.getBoundingClientRect().right)),
    )
    expect(reach).toBeLessThanOrEqual(360)
    expect(await form.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  })

  it('that is not there is not found', async () => {
    const { page } = await open('/agents/nobody')
    await page.getByText('There is no such agent').waitFor()
    await page.getByText('This server has none of that name.').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'See all agents' }).waitFor()
  })

  it.each([
    ['light', undefined],
    ['dark', phone],
  ] as const)('keeps nobody out, in the %s theme', async (colorScheme, viewport) => {
    const { page } = await open('/agents/research', { colorScheme, ...(viewport && { viewport }) })
    await page.getByRole('group', { name: 'tags' }).getByRole('button', { name: 'Add' }).click()
    await expectAccessible(page)
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').click()
    await page.getByRole('link', { name: /plain/ }).waitFor()
    await expectAccessible(page)
  })
})

describe('a snippet', () => {
  it.each(['TypeScript', 'curl', 'CLI'])('in %s starts the run that the form shows', async (language) => {
    const { page, runtime } = await open('/agents/research')
    await page.getByLabel('topic').fill("Ada's owls")
    await page.getByLabel('Thread').fill('snippet')
    await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click()
    const text = (await page.locator(`[data-snippet=${language}]`).textContent()) ?? ''
    const command = text.replace(/^holdfast/, `${process.execPath} bin/holdfast.js`)
    const program = text.replace("'holdfast/client'", `'${new URL('../../src/client/index.ts', import.meta.url).href}'`)
    const [file, ...given] =
      language === 'TypeScript' ? [process.execPath, '--input-type=module', '--eval', program] : ['sh', '-c', command]
    await promisify(execFile)(file ?? '', given, { env: { ...process.env, HOLDFAST_TOKEN: 'secret' } })
    const { tasks } = await runtime.list({ thread: 'snippet' })
    expect(tasks.map(({ input }) => input)).toEqual([{ topic: "Ada's owls", depth: 2 }])
  })
})
