import { systemClock } from '../../runtime/clock.ts'
import { type Problem, Refused, Unanswered, unanswered } from './wire-error.ts'

export interface Request {
  readonly url: string
  readonly token: string
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Who has no answer by then has none. */
  readonly timeoutMs: number
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Asks once. Rejects with `Unanswered` if not all of the answer came in time, whatever it was. */
export async function ask(request: Request): Promise<Answer> {
  const { url, token, method = 'GET', body, timeoutMs } = request
  const leaving = new AbortController()
  const timer = systemClock.setTimer(timeoutMs, () => leaving.abort())
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...json, ...request.headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: leaving.signal,
      redirect: 'manual',
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    return unanswered(error)
  } finally {
    timer.cancel()
  }
}

/** The body of an answer; rejects with what was refused. */
export function bodyOf<Body>({ status, text }: Answer): Body {
  const body = status === 204 ? undefined : parsed(text)
  if (status >= 400) throw new Refused(body as Problem)
  return body as Body
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Cut in a way that looks like an end.
    throw new Unanswered('The answer is no JSON', { cause: error })
  }
}
