import { type ErrorCode, HoldfastError } from '../core/errors.ts'
import type { Problem } from '../protocol/problem.ts'

const awayCodes: readonly ErrorCode[] = ['unreachable', 'draining', 'store_unavailable']

/** Whether the server is away, and nothing was done. */
export function isAway({ code }: HoldfastError): boolean {
  return awayCodes.includes(code)
}

/** Whether a refusal may be gone when the same is asked for later. */
export function isPassing(error: HoldfastError): boolean {
  return isAway(error) || error.code === 'limit_reached' || error.code === 'internal_error'
}

/** How long the server wants to be left alone; 0 if it does not say. */
export function retryAfterMs({ facts }: HoldfastError): number {
  return Number(facts['retryAfterMs'] ?? 0)
}

export function unreachable(url: string, cause?: unknown): HoldfastError {
  return new HoldfastError('unreachable', `${url} cannot be reached; is the server running?`, {
    cause,
  })
}

/** The error that the server answered with: its code, its sentence and its facts, the request id among them. */
export function toError(problem: Problem): HoldfastError {
  const { type: _type, title, code, detail, ...facts } = problem
  return new HoldfastError(code, detail ?? title, { facts })
}

/** What an answer says that is not 2xx. One that is no problem of Holdfast's comes from something in between. */
export async function answeredError(response: Response, url: string): Promise<HoldfastError> {
  const { status, headers } = response
  // What stands in between may give a date, which is left to the wait that grows, or years: a timer of more than 2^31 fires at once.
  const ms = Math.min(Number(headers.get('retry-after')) * 1000, 1e9)
  const wait = ms && { retryAfterMs: ms }
  const text = await response.text().catch(() => '')
  const problem = objectIn<Problem>(text)
  if (problem?.code && problem.title) return toError({ ...wait, ...problem })
  return new HoldfastError(codeOf(status), `${url} answered ${status} and not why`, { facts: { status, ...wait } })
}

/** Every answer of Holdfast is an object; whatever else listens there, or stands in between, may say anything. */
export function objectIn<Body>(text: string): Body | undefined {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as Body) : undefined
  } catch {
    return undefined
  }
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  404: 'not_found',
  413: 'too_large',
  429: 'limit_reached',
  // Of a proxy that cannot reach the server.
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
}

function codeOf(status: number): ErrorCode {
  return codes[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')
}
