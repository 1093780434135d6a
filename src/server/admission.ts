import type { MiddlewareHandler } from 'hono'
import { HoldfastError } from '../core/errors.ts'
import { logAccess } from './access-log.ts'
import type { AppContext, AppEnv } from './app-env.ts'
import { isConsolePath, leadToConsole } from './console.ts'
import { checkDotSegments } from './dot-segments.ts'
import { problemResponse } from './problem-response.ts'
import { requestIdOf } from './request-id.ts'
import type { ServerParts } from './server-parts.ts'

/**
 * What every request goes through before its route, in this order: it gets an id, its path must mean what it says, its Host
 * and Origin are checked, and whoever asks is made out.
 */
export function admission(parts: ServerParts): MiddlewareHandler<AppEnv> {
  const { clock, log, basePath } = parts
  const probes = new Set([`${basePath}/healthz`, `${basePath}/readyz`])
  const login = `${basePath}/v1/login`
  const admit = async (c: AppContext): Promise<Response | undefined> => {
    const { headers } = c.req.raw
    const path = c.req.path
    // As it was sent: a `Request` has none of them left.
    checkDotSegments(c.env?.incoming?.url ?? '')
    if (!probes.has(path)) {
      // A request that came over a socket says its host in a header, or not at all.
      parts.guard.check(headers, c.req.url.startsWith('https:'), c.env?.incoming ? undefined : c.req.url)
      const preflight = parts.guard.preflight(c.req.method, headers)
      if (preflight) return new Response(null, { status: 204, headers: { ...c.get('headers'), ...preflight } })
    }
    const led = leadToConsole(c, basePath)
    if (led) return led
    const isOpen = probes.has(path) || (path === login && c.req.method === 'POST') || isConsolePath(path, basePath)
    if (!isOpen) c.set('principal', await principalOf(c, parts))
    checkEscapes(c.req.url)
    return undefined
  }
  return async (c, next) => {
    const startedAt = clock.now()
    greet(c, parts)
    const answer = await admit(c).catch((error: unknown) => problemResponse(c, error, log))
    if (!answer) await next()
    logAccess(log, c, (answer ?? c.res).status, clock.now() - startedAt)
    return answer
  }
}

function greet(c: AppContext, { node, guard }: ServerParts): void {
  const { headers } = c.req.raw
  const requestId = requestIdOf(headers)
  const common = {
    'x-request-id': requestId,
    'x-holdfast-node': node,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  const cors = guard.corsHeaders(headers.get('origin'))
  c.set('requestId', requestId)
  c.set('principal', '')
  c.set('headers', cors ? { ...common, ...cors } : common)
}

async function principalOf(c: AppContext, { authentication }: ServerParts): Promise<string> {
  const principal = await authentication.principalOf(c.req.raw.headers, c.req.raw)
  if (principal !== undefined) return principal
  throw new HoldfastError('unauthenticated', 'Give a valid token as Authorization: Bearer TOKEN, or log in')
}

/** A path whose escapes are wrong would be matched as it stands, and name something that nobody meant. */
function checkEscapes(url: string): void {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!path.includes('%')) return
  try {
    decodeURIComponent(path)
  } catch (cause) {
    throw new HoldfastError('invalid_request', 'The path has an escape that is not valid UTF-8', { cause })
  }
}
