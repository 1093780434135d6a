import { HoldfastError } from '../core/errors.ts'
import { systemClock } from '../runtime/clock.ts'
import type { OnEnded } from '../runtime/hooks.ts'
import { post, type Resolve } from './post.ts'
import { checkSecret, signedHeaders } from './signature.ts'

/** Where ended tasks are posted to, and what they are signed with. */
export interface SignedWebhookOptions {
  readonly url: string | URL
  /** At least 16 bytes. With `whsec_` before it, it is taken as base64, as Standard Webhooks writes keys. */
  readonly secret: string
  /** Lets the host be on this machine or in its network, which is refused unless given. */
  readonly allowPrivate?: boolean
  /** How long the receiver may take. Ten seconds unless given. */
  readonly timeoutMs?: number
  /** What is sent; the task unless given. */
  readonly body?: (task: Parameters<OnEnded>[0]) => unknown
  /** Names to addresses; the system's resolver unless given. */
  readonly resolve?: Resolve
}

const timeoutMsDefault = 10_000

/**
 * An `onEnded` that posts the ended task as JSON to a URL, signed as Standard Webhooks says (HMAC-SHA-256 over id, instant and
 * body). Any answer but 2xx, also a redirect, is a failure, and so is none in time. The id is the same at every call for a task.
 */
export function signedWebhook(options: SignedWebhookOptions): OnEnded {
  const url = checkedUrl(options.url)
  const { secret, allowPrivate = false, timeoutMs = timeoutMsDefault, body: bodyOf = (task) => task, resolve } = options
  checkSecret(secret)
  return async (task, { signal, key }) => {
    const body = JSON.stringify(bodyOf(task)) ?? 'null'
    const headers = { 'content-type': 'application/json', ...signedHeaders(secret, key, body, systemClock.now()) }
    const late = new AbortController()
    const timer = systemClock.setTimer(timeoutMs, () => late.abort())
    try {
      const either = AbortSignal.any([signal, late.signal])
      const status = await post({ url, headers, body, signal: either, allowPrivate, ...(resolve && { resolve }) })
      if (status < 200 || status > 299) throw new Error(`The webhook answered with ${status}`)
    } catch (error) {
      if (late.signal.aborted) throw new Error(`The webhook did not answer within ${timeoutMs} ms`, { cause: error })
      throw withoutAddress(error)
    } finally {
      timer.cancel()
    }
  }
}

function checkedUrl(given: string | URL): URL {
  const url = URL.parse(String(given))
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw new HoldfastError('invalid_request', 'The url of a webhook is http or https, and has no password in it')
}

/** The text is shown to whoever may see the task, whom the addresses of our network do not concern. The cause has all of it. */
function withoutAddress(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  return new Error(`The webhook could not be reached (${String(error.code)})`, { cause: error })
}
