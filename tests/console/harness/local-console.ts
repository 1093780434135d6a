import type { Page } from 'playwright-core'
import type { LocalServer } from '../../server/harness/local-server.ts'
import { freshContext } from './browser.ts'
import { refuseProblems } from './problems.ts'

interface LocalConsoleOptions {
  readonly path?: string
  readonly isLoggedIn?: boolean
  readonly theme?: 'light' | 'dark'
  readonly allowed?: readonly RegExp[]
}

/** A page of the console of a server in this process, which a test can close and open again. */
export async function localConsole(server: LocalServer['server'], options: LocalConsoleOptions = {}): Promise<Page> {
  const { path = '', isLoggedIn = true, theme = 'light', allowed } = options
  const context = await freshContext({ colorScheme: theme, viewport: { width: 1280, height: 800 } })
  if (isLoggedIn) await context.request.post(`${server.url}/v1/login`, { data: { token: 'secret' } })
  const page = await context.newPage()
  await refuseProblems(page, allowed)
  await page.goto(`${server.url}/console${path}`)
  return page
}
