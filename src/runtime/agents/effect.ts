import { errorText } from '../../core/outcome.ts'
import type { AgentContext } from '../agent.ts'

/** Whether a URL leads nowhere but to this machine. A name that only resolves to it today does not count. */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return false
  // What is sent is no secret, and a request with credentials in its URL is refused by fetch anyway.
  if (username !== '' || password !== '') return false
  // The parser has written every spelling of an IPv4 address as four decimal numbers.
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

/** Tells a server on this machine that a step is executed. Resolves once it has answered 2xx. */
export async function postEffect(ctx: AgentContext, url: string, key: string): Promise<void> {
  const { taskId: task, attempt, signal } = ctx
  const request: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ task, key, attempt }),
    // A redirect could lead away from this machine.
    redirect: 'error',
    signal,
  }
  const response = await fetch(url, request).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new Error(`The effect of step ${key} failed: ${url} cannot be asked: ${reasonOf(error)}`, { cause: error })
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`The effect of step ${key} failed: ${url} answered ${response.status}`)
}

/** What `fetch` rejects with says only that it failed; why is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return errorText(cause ?? error)
}
