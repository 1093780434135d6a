import { type Client, type ErrorCode, HoldfastError, isHoldfastError } from '../client/index.ts'

// All others a proxy in front of the right server has reasons for: a login of its own, a limit, a server that is away.
const answeredByOthers: readonly ErrorCode[] = ['not_found', 'internal_error', 'invalid_request']

/** What went wrong, or that it is no Holdfast server which was asked: what is not there may be there under the right URL. */
export async function wrongServer(error: unknown, url: string, health: Client['health']): Promise<unknown> {
  if (!isHoldfastError(error)) return error
  const { status, requestId } = error.facts
  const isOthers = status !== undefined && requestId === undefined && answeredByOthers.includes(error.code)
  if (isOthers) return noServer(url, `it answered ${String(status)}`, error)
  if (error.code !== 'not_found' || requestId === undefined) return error
  return (await isUnknownPath(url, health)) ? noServer(url, 'the server there does not know this path', error) : error
}

function noServer(url: string, why: string, cause: HoldfastError): HoldfastError {
  const { status } = cause.facts
  const base = url.replace(/\/v1\/*$/, '')
  const advice = base === url ? '' : `; try ${base}`
  return new HoldfastError('unreachable', `${url} is no Holdfast server: ${why}${advice}`, { cause, facts: { status } })
}

/** Of what is not there Holdfast does not say what it was; but every one that is mounted at a path says there that it lives. */
async function isUnknownPath(url: string, health: Client['health']): Promise<boolean> {
  if (new URL(url).pathname === '/') return false
  return health().then(
    () => false,
    (error: unknown) => isHoldfastError(error, 'not_found'),
  )
}
