import { HoldfastError, isHoldfastError } from '../core/errors.ts'
import { backOffMs } from './back-off.ts'
import { type ClientClock, pause } from './clock.ts'
import type { ConnectionMonitor } from './connection.ts'
import { answeredError, isAway, objectIn, retryAfterMs, unreachable } from './failure.ts'

export interface HttpParts {
  /** Without a slash at its end. */
  readonly url: string
  readonly token: string | undefined
  readonly fetch: typeof fetch
  readonly clock: ClientClock
  readonly random: () => number
  readonly retryForMs: number
  readonly monitor: ConnectionMonitor
}

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Whether asking again does no harm if the answer was lost. */
  readonly isRepeatable?: boolean
}

interface Answer {
  readonly text: string
  readonly status: number
  readonly headers: Headers
}

// Far longer than any answer takes; a connection that died without a word would be waited for without end.
const answerMsMax = 60_000

/** Requests to one server. */
export class Http {
  readonly #parts: HttpParts

  constructor(parts: HttpParts) {
    this.#parts = parts
  }

  /** The JSON that is answered; undefined if there is none. */
  async json<Body>(path: string, asked: Asked = {}): Promise<Body> {
    return bodyOf<Body>(await this.text(path, asked))
  }

  async text(path: string, asked: Asked = {}): Promise<Answer> {
    const { clock, random, retryForMs } = this.#parts
    let waitedMs = 0
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#ask(path, asked, readText)
      } catch (error) {
        // A server at its limit says so to whoever asks; only one that is away is waited for.
        if (!asked.isRepeatable || !isHoldfastError(error) || !isAway(error)) throw error
        const ms = backOffMs(failures, random(), retryAfterMs(error))
        waitedMs += ms
        if (waitedMs > retryForMs) throw error
        await pause(clock, ms, asked.signal)
      }
    }
  }

  /** An answer that is read as it comes. Rejects with what is refused. */
  open(path: string, asked: Asked = {}): Promise<Response> {
    return this.#ask(path, asked, (response) => response)
  }

  async #ask<Value>(path: string, asked: Asked, read: (response: Response) => Value | Promise<Value>): Promise<Value> {
    const { fetch, monitor, clock, url, token } = this.#parts
    const { method = 'GET', body, headers } = asked
    const late = new AbortController()
    const timer = clock.setTimer(answerMsMax, () => late.abort(unreachable(url)))
    const signal = AbortSignal.any([late.signal, asked.signal ?? []].flat())
    let refusal: HoldfastError
    try {
      const response = await fetch(`${url}${path}${queryText(asked.query)}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        // The cookie of a login is sent to another port of the same site only if that is asked for.
        credentials: token === undefined ? 'include' : 'omit',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
      })
      if (response.ok) {
        monitor.answered(true)
        return await read(response)
      }
      refusal = await answeredError(response, url)
      // It is there, but not for this client.
      if (refusal.code === 'unauthenticated') monitor.answered(false)
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      monitor.answered(false)
      throw unreachable(url, cause)
    } finally {
      timer.cancel()
    }
    throw refusal
  }
}

async function readText(response: Response): Promise<Answer> {
  return { text: await response.text(), status: response.status, headers: response.headers }
}

/** What is answered; undefined if nothing is to be. */
export function bodyOf<Body>({ text, status }: Answer): Body {
  const body = objectIn<Body>(text)
  if (body || status === 204) return body as Body
  throw new HoldfastError('unreachable', 'It is not Holdfast that answered; is the URL right?')
}

/** One segment of a path. No URL can name the two that mean "here" and "above". */
export function segment(text: string): string {
  if (text !== '' && text !== '.' && text !== '..') return encodeURIComponent(text)
  throw new HoldfastError('invalid_request', `${JSON.stringify(text)} cannot be asked for; use another id`)
}

function queryText(fields: Asked['query'] = {}): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined) as [string, string][]
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
