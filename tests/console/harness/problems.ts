import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

// As text, because tests whose types know no page use it as well.
const watchPolicy = `
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    console.error('Policy violated: ' + violatedDirective + ' by ' + blockedURI)
  })
`

/**
 * Fails the test if the page breaks its policy, throws, or complains. What a test provokes on purpose it allows: a page that
 * asks for what is not there complains of the answer.
 */
export async function refuseProblems(page: Page, allowed: readonly RegExp[] = []): Promise<void> {
  const problems: string[] = []
  const note = (text: string) => {
    if (!allowed.some((pattern) => pattern.test(text))) problems.push(text)
  }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') note(message.text())
  })
  page.on('pageerror', (error) => note(error.stack ?? error.message))
  await page.addInitScript({ content: watchPolicy })
  onTestFinished(() => expect(problems).toEqual([]))
}

/** What a browser says of answers that are refusals, and of servers that are gone. */
export const refusals = [/^Failed to load resource/, /^WebSocket connection to/, /^WebSocket is already in CLOSING/]
