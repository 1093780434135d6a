import type { BrowserContext, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { type StartOptions, startServer, type TestServer } from '../../server/harness/server.ts'
import { freshContext } from './browser.ts'
import { refuseProblems } from './problems.ts'

const desktop = { width: 1440, height: 900 } as const
export const phone = { width: 390, height: 844 } as const

export interface ConsoleOptions extends Partial<StartOptions> {
  /** Inside the console; its start unless given. */
  readonly path?: string
  /** Who is logged in; alice unless given, nobody if empty. */
  readonly as?: string
  readonly viewport?: { readonly width: number; readonly height: number }
  /** It is used by fingers, and nothing hovers. */
  readonly isTouched?: true
  readonly theme?: 'light' | 'dark'
  readonly reducedMotion?: 'reduce'
  /** Complaints of the page that this test provokes. */
  readonly allowed?: readonly RegExp[]
}

export interface OpenConsole {
  readonly server: TestServer
  readonly context: BrowserContext
  readonly page: Page
  /** Accepts a run of the script agent as alice, and answers with its id. */
  run(thread: string, script: readonly object[], more?: object): Promise<string>
  /** Another tab of the same browser. */
  tab(path: string): Promise<Page>
  goto(path: string): Promise<void>
}

/** A server of its own and a page of its console. Both end with the test. */
export async function openConsole(options: ConsoleOptions = {}): Promise<OpenConsole> {
  const { store = 'memory', env, tokens } = options
  const server = await startServer({ store, ...(env && { env }), ...(tokens && { tokens }) })
  onTestFinished(() => server.end())
  return openConsoleOf(server, options)
}

/** A page of the console of a server that is there already. */
export async function openConsoleOf(server: TestServer, options: ConsoleOptions = {}): Promise<OpenConsole> {
  const { path, as = 'alice', viewport = desktop, theme = 'light', reducedMotion, isTouched, allowed } = options
  const context = await freshContext({
    viewport,
    colorScheme: theme,
    ...(reducedMotion && { reducedMotion }),
    ...(isTouched && { hasTouch: true, isMobile: true }),
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  if (as !== '') await logIn(context, server, as)
  const tab = async (at: string): Promise<Page> => {
    const page = await context.newPage()
    await refuseProblems(page, allowed)
    await page.goto(`${server.url}/console${at}`)
    return page
  }
  const page = await context.newPage()
  await refuseProblems(page, allowed)
  const goto = async (at: string) => void (await page.goto(`${server.url}/console${at}`))
  if (path !== undefined) await goto(path)
  return { server, context, page, tab, goto, run: (thread, script, more) => runScript(server, thread, script, more) }
}

async function logIn(context: BrowserContext, server: TestServer, principal: string): Promise<void> {
  const answer = await context.request.post(`${server.url}/v1/login`, { data: { token: server.tokens[principal] } })
  if (!answer.ok()) throw new Error(`The login was answered with ${answer.status()}`)
}

async function runScript(server: TestServer, thread: string, script: readonly object[], more = {}): Promise<string> {
  const body = { agent: 'script', input: { script }, ...more }
  const { status, body: task } = await server.request<{ id: string }>('POST', `/v1/threads/${thread}/runs`, { body })
  if (status !== 202) throw new Error(`The run was answered with ${status}`)
  return task.id
}
