import { type Client, type ErrorCode, HoldfastError, isHoldfastError } from '../client/index.ts'
import type { Surroundings } from './surroundings.ts'

// All others a proxy in front of the right server has reasons for: a login of its own, a limit, a server that is away.
const answeredByOthers: readonly ErrorCode[] = ['not_found', 'internal_error', 'invalid_request']

// Whoever has been refused waits no longer than this to hear why.
const healthMsMax = 2_000

interface AskedServer {
  readonly url: string
  readonly health: Client['health']
  readonly clock: Surroundings['clock']
}

/** What went wrong, or that it is no Holdfast server which was asked: what is not there may be there under the right URL. */
export async function wrongServer(error: unknown, asked: AskedServer): Promise<unknown> {
  const { url } = asked
  if (!isHoldfastError(error)) return error
  const { status, requestId } = error.facts
  const isOthers = status !== undefined && requestId === undefined && answeredByOthers.includes(error.code)
  if (isOthers) return noServer(url, `it answered ${String(status)}`, error)
  if (error.code !== 'not_found' || requestId === undefined) return error
  return (await isUnknownPath(asked)) ? noServer(url, 'the server there does not know this path', error) : error
}

function noServer(url: string, why: string, cause: HoldfastError): HoldfastError {
  const { status } = cause.facts
  const base = url.replace(/\/v1\/*$/, '')
  const advice = base === url ? '' : `; try ${base}`
  return new HoldfastError('unreachable', `${url} is no Holdfast server: ${why}${advice}`, { cause, facts: { status } })
}

/** Of what is not there Holdfast does not say what it was; but every one that is mounted at a path says there that it lives. */
async function isUnknownPath({ url, health, clock }: AskedServer): Promise<boolean> {
  if (new URL(url).pathname === '/') return false
  const patience = new AbortController()
  const timer = clock.setTimer(healthMsMax, () => patience.abort())
  try {
    await health({ signal: patience.signal })
    return false
  } catch (error) {
    return isHoldfastError(error, 'not_found')
  } finally {
    timer.cancel()
  }
}
